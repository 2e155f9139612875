import type { ListedRequest } from "../../contract/directory.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import type { JsonObject } from "../../core/json.ts";
import { type AnswerLinks, answerUrl, hashOfTicket } from "../../notify/answer-links.ts";
import { mayAnswerByLink } from "../../notify/linkable.ts";
import type { Directory } from "../directory/directory.ts";
import type { ReceiverMessage } from "../notify/receiver-sender.ts";
import type { KeyStore } from "./key-store.ts";
import type { TokenStore } from "./token-store.ts";

export interface RequestLinksOptions {
  tenant: string;
  tokens: TokenStore;
  keys: KeyStore;
  directory: Directory;
  limits: () => TenantLimits;
  /** Undefined without a valid SECRETS_KEY. */
  links: AnswerLinks | undefined;
  /** The address at which browsers reach the service, by its setting. */
  publicUrl: () => string | undefined;
  /** Called when rows were added that expire. */
  setAlarm: () => void;
}

/** The parts of an open request that its links depend on. */
type RequestFacts = Pick<
  ListedRequest,
  "id" | "kind" | "run_id" | "team_id" | "created_at" | "expires_at" | "login"
>;

/** Makes the links of messages about open requests: each is a row of the team's tokens until its request is closed. */
export class RequestLinks {
  readonly #options: RequestLinksOptions;

  constructor(options: RequestLinksOptions) {
    this.#options = options;
  }

  /** The address of the page; null where a message must have none. @param request as webhooks get it */
  async of(message: ReceiverMessage, request: JsonObject): Promise<string | null> {
    const { tenant, links, publicUrl } = this.#options;
    const { origin } = message.receiver;
    const facts = request as unknown as RequestFacts;
    const { id, run_id, team_id } = facts;
    if (links === undefined || !origin.answers || !mayAnswerByLink(facts)) return null;
    const linked = { tenant, team: team_id, run: run_id, request: id, id: message.id };
    const ticket = await links.ticket(linked);
    const hash = await hashOfTicket(ticket);
    // No await from here on: a link is made for a request that is open.
    if (!this.#record(message, facts, hash)) return null;
    return answerUrl(publicUrl() ?? origin.base_url, ticket);
  }

  /** Records the link, if it may be made. An attempt that is repeated finds the row of the first, unless it was revoked. */
  #record(message: ReceiverMessage, request: RequestFacts, hash: string): boolean {
    const { tokens, keys, directory, limits, setAlarm } = this.#options;
    const { receiver, isRepeated } = message;
    const { origin } = receiver;
    const { id, team_id: team, created_at, expires_at } = request;
    const now = Date.now();
    if (tokens.find(team, message.id, now) !== undefined) return true;
    if (isRepeated || !directory.hasRequest(created_at, team, id)) return false;
    const { ends_with } = origin;
    if (ends_with !== null && "key" in ends_with && !keys.has(ends_with.key, now)) return false;
    const ends = [expires_at, origin.until].flatMap((time) =>
      time === null ? [] : [Date.parse(time)],
    );
    const until = Math.min(now + origin.life * 1000, ...ends);
    if (until <= now) return false;
    const { creation, made_by, maker } = origin;
    const added = tokens.add(
      team,
      {
        id: message.id,
        scopes: ["requests:write"],
        user: null,
        made_by,
        expires_at: new Date(until).toISOString(),
        creation,
        maker,
        ends_with,
        made_at: now,
        answers: { request: id, receiver: nameOf(message), hash },
      },
      limits().team_tokens,
      now,
    );
    setAlarm();
    return added.ok;
  }
}

/** The receiver as answers name it. Its secrets are not a part of that. */
function nameOf({ receiver: { shown } }: ReceiverMessage): string {
  const { kind, url, chat, to } = shown;
  if (kind === "email") return `e-mail to ${to}`;
  if (kind === "telegram") return `Telegram, chat ${chat}`;
  const host = url === undefined ? "" : ` ${new URL(url).host}`;
  return `${kind === "slack" ? "Slack" : "webhook"}${host}`;
}
