import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { WebhookEventType } from "../contract/constants.ts";

/** An event in words, before it gets the format of a receiver. */
export interface Notice {
  /** One line. */
  title: string;
  /** Paragraphs of foreign text, in their order. */
  paragraphs: readonly Paragraph[];
  /** The page on which the question is answered; null for none. */
  link: string | null;
}

export interface Paragraph {
  /** One or two words of ours before it; null for none. */
  label: string | null;
  text: string;
  /** True for code and JSON. */
  code?: boolean;
}

/** The words for the ends of runs. */
const OUTCOMES: { readonly [Type in WebhookEventType]?: string } = {
  "run.completed": "The run is completed",
  "run.failed": "The run failed",
  "run.cancelled": "The run was cancelled",
  "run.waiting": "The run waits for a human",
};

/**
 * The event of a delivery in words.
 *
 * @param body the event as webhooks get it
 */
export function noticeOf(body: string, link: string | null): Notice {
  const { type, data } = JSON.parse(body) as { type: WebhookEventType; data: JsonObject };
  const team = text(data["team_label"]) ?? text(data["team_id"]) ?? "";
  if (type === "request.created") return question(data, team, link);
  if (type === "message") {
    const source = text(data["source"]) ?? "";
    return notice(`${team}: ${source}`, [[null, said(data)]]);
  }
  const outcome = OUTCOMES[type] ?? type;
  const { answer, error } = data;
  return notice(`${team}: ${outcome}`, [
    ["Task", text(data["task"])],
    ["Error", isJsonObject(error) ? text(error["message"]) : undefined],
    ["Answer", isJsonObject(answer) ? text(answer["text"]) : undefined],
  ]);
}

function question(data: JsonObject, team: string, link: string | null): Notice {
  const source = text(data["source"]) ?? "";
  const { kind, tool_call: call, said: before, login } = data;
  const asks = kind === "approval" ? "asks for an approval" : "asks a question";
  const title = isJsonObject(login)
    ? `${team}: ${source} waits for a login`
    : `${team}: ${source} ${asks}`;
  const { paragraphs } = notice("", [
    ["Task", text(data["task"])],
    ["Before", isJsonObject(before) ? text(before["text"]) : undefined],
    [null, text(data["prompt"])],
  ]);
  const code = text(data["code"]);
  const shown: Paragraph[] = [...paragraphs];
  if (isJsonObject(call)) {
    const name = text(call["name"]) ?? "tool";
    shown.push({ label: name, text: JSON.stringify(call["arguments"] ?? {}, null, 2), code: true });
  }
  if (code !== undefined) shown.push({ label: "Code", text: code, code: true });
  const until = text(data["expires_at"]);
  if (until !== undefined) shown.push({ label: "Answer until", text: until });
  return { title, paragraphs: shown, link };
}

function notice(title: string, parts: readonly [string | null, string | undefined][]): Notice {
  const paragraphs = parts.flatMap(([label, part]) =>
    part === undefined || part.trim() === "" ? [] : [{ label, text: part.trim() }],
  );
  return { title, paragraphs, link: null };
}

/** The text of a message, which may be parts or an object. */
function said({ content }: JsonObject): string | undefined {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === undefined ? undefined : JSON.stringify(content);
  return content.map((part) => (typeof part === "string" ? part : "[image]")).join("\n");
}

function text(value: Json | undefined): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
