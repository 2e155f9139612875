import { beginningOf } from "../core/cut.ts";
import { isJsonObject, parsedJson } from "../core/json.ts";
import type { ShownReceiver } from "../contract/notify.ts";

/** The answer of a receiver to one attempt. */
export interface ReceiverAnswer {
  /** Null when there was none. */
  status: number | null;
  /** Why it was not delivered; null if the status says so. */
  error: string | null;
  /** The beginning of the answer's body. */
  response: string | null;
  /** Milliseconds that the receiver asked to wait. */
  retryAfter: number | null;
}

/** Why no other attempt is made: this message cannot be delivered, or nothing can. */
export type RefusedPart = "message" | "receiver";

/** Slack's words for addresses and channels that take nothing any more. */
const SLACK_GONE =
  /^(no_service|no_service_id|no_team|team_disabled|invalid_token|channel_not_found|channel_is_archived|posting_to_general_channel_denied|user_not_found|action_prohibited|no_active_hooks)$/;

/** Descriptions of Telegram for chats that take nothing from this bot. */
const TELEGRAM_GONE = /chat not found|bot was blocked|bot was kicked|not a member|deactivated/i;

/** Reads a maker's own way of refusing a message. */
export function verdictOf<Answer extends ReceiverAnswer>(
  kind: ShownReceiver["kind"],
  answer: Answer,
): Answer & { refused?: RefusedPart } {
  if (answer.status === null) return answer;
  if (kind === "slack") return slackVerdict(answer);
  return kind === "telegram" ? telegramVerdict(answer) : answer;
}

/** Slack answers `ok`, or the code of an error, also with 200; programs like it answer JSON. */
function slackVerdict<Answer extends ReceiverAnswer>(
  answer: Answer,
): Answer & { refused?: RefusedPart } {
  const { status, response } = answer;
  const text = (response ?? "").trim();
  const json = parsedOrUndefined(text);
  const isObject = isJsonObject(json);
  const isGood = status !== null && status >= 200 && status < 300;
  const said = isObject && (json["ok"] === true || json["success"] === true);
  if (isGood && (text === "" || text === "ok" || said)) return { ...answer, response: null };
  const code = isObject && typeof json["error"] === "string" ? json["error"] : text;
  const error = `Slack refused the message: ${beginningOf(code, 200) || status}.`;
  if (SLACK_GONE.test(code)) return { ...answer, error, refused: "receiver" };
  const isFinal =
    status !== null && status >= 400 && status < 500 && status !== 429 && status !== 408;
  if (isFinal || /^(invalid_payload|invalid_blocks|no_text|msg_too_long)$/.test(code)) {
    return { ...answer, error, refused: "message" };
  }
  return { ...answer, error };
}

/** Telegram answers JSON with `ok`, and beside it a description and for how long to wait. */
function telegramVerdict<Answer extends ReceiverAnswer>(
  answer: Answer,
): Answer & { refused?: RefusedPart } {
  const json = parsedOrUndefined((answer.response ?? "").trim());
  const said = isJsonObject(json) ? json : {};
  const isGood = answer.status !== null && answer.status >= 200 && answer.status < 300;
  if (isGood && said["ok"] !== false) return { ...answer, response: null };
  const code = typeof said["error_code"] === "number" ? said["error_code"] : (answer.status ?? 0);
  const description = typeof said["description"] === "string" ? said["description"] : String(code);
  const { parameters } = said;
  const facts = isJsonObject(parameters) ? parameters : {};
  const moved = facts["migrate_to_chat_id"];
  const wait = facts["retry_after"];
  const hint = moved === undefined ? "" : ` The chat has the id ${JSON.stringify(moved)} now.`;
  const error = `Telegram refused the message: ${beginningOf(description, 300)}.${hint}`;
  if (code === 429) {
    const retryAfter = typeof wait === "number" ? wait * 1000 : answer.retryAfter;
    return { ...answer, status: 429, error, retryAfter };
  }
  if (code === 401 || code === 403 || code === 404 || moved !== undefined) {
    return { ...answer, error, refused: "receiver" };
  }
  if (code === 400) {
    return { ...answer, error, refused: TELEGRAM_GONE.test(description) ? "receiver" : "message" };
  }
  return { ...answer, error };
}

function parsedOrUndefined(text: string): unknown {
  return text.startsWith("{") ? parsedJson(text) : undefined;
}
