import type { StoredReceiver } from "../../contract/notify.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";
import type { Mail } from "../../notify/email-message.ts";
import type { ReceiverAnswer, RefusedPart } from "../../notify/verdict.ts";
import type { Sealer, UnreadableWords } from "../../secrets/sealer.ts";

/** The outcome of an attempt. */
export interface ReceiverResult extends ReceiverAnswer {
  /** Milliseconds. */
  duration: number;
  refused?: RefusedPart;
}

/** A request to a receiver that is not signed. */
export interface ReceiverRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Parts of the address that nothing may show. */
  secrets: readonly string[];
  /** The body of a good answer is wanted, too. */
  reads: true;
}

/** A message that a delivery makes. */
export interface ReceiverMessage {
  /** The id of the delivery. */
  id: string;
  /** When it was made, epoch milliseconds. */
  at: number;
  receiver: StoredReceiver;
  /** True if it was attempted before: a link that is gone was revoked. */
  isRepeated: boolean;
  /** The event as webhooks get it. */
  body: string;
}

export interface ReceiverSenderOptions {
  sealer: Sealer;
  send: (request: ReceiverRequest) => Promise<ReceiverResult>;
  sendEmail: (mail: Mail) => Promise<ReceiverResult>;
  /** The sender of e-mails; undefined where none are sent. */
  emailFrom: () => string | undefined;
  /** The server of Telegram's bots. */
  telegramApi: () => string;
  /** The page that answers a request; null where the message has none. */
  link: (message: ReceiverMessage, request: JsonObject) => Promise<string | null>;
}

/** Writes messages in the formats of their receivers, and sends them. */
export class ReceiverSender {
  readonly #options: ReceiverSenderOptions;

  constructor(options: ReceiverSenderOptions) {
    this.#options = options;
  }

  /** Sends a message to Slack, Telegram or by e-mail once. May throw: the attempt has failed then. */
  async send(message: ReceiverMessage): Promise<ReceiverResult> {
    const { receiver, body, id, at } = message;
    const { kind, chat = "", to = "" } = receiver.shown;
    const [{ noticeOf }, { verdictOf }] = await Promise.all([
      import("../../notify/notice.ts"),
      import("../../notify/verdict.ts"),
    ]);
    const notice = noticeOf(body, await this.linkOf(message));
    if (kind === "email") {
      const { emailMessage } = await import("../../notify/email-message.ts");
      const { thread } = receiver;
      const from = thread?.from ?? this.#options.emailFrom();
      if (from === undefined) return noEmail();
      return this.#options.sendEmail(emailMessage(notice, { from, to, id, at, thread }));
    }
    const secret = await this.secretOf(receiver);
    if (kind === "slack") {
      const { slackMessage } = await import("../../notify/chat-messages.ts");
      return verdictOf(kind, await this.#post(secret, slackMessage(notice), [secret]));
    }
    const { telegramMessage, telegramUrl } = await import("../../notify/chat-messages.ts");
    const url = telegramUrl(this.#options.telegramApi(), secret);
    return verdictOf(kind, await this.#post(url, telegramMessage(notice, chat), [secret]));
  }

  /** The event for a receiver that is a webhook: with the link, and the address that it goes to. */
  async webhook(message: ReceiverMessage): Promise<{ url: string; body: string }> {
    const link = await this.linkOf(message);
    const url = await this.secretOf(message.receiver);
    if (link === null) return { url, body: message.body };
    const event = JSON.parse(message.body) as { data: JsonObject };
    return {
      url,
      body: JSON.stringify({ ...event, data: { ...event.data, answer_url: link } }),
    };
  }

  linkOf(message: ReceiverMessage): Promise<string | null> {
    const { type, data } = JSON.parse(message.body) as JsonObject;
    if (type !== "request.created" || !isJsonObject(data)) return Promise.resolve(null);
    return this.#options.link(message, data);
  }

  secretOf({ secret }: StoredReceiver): Promise<string> {
    return this.#options.sealer.read(secret ?? "", UNREADABLE);
  }

  #post(url: string, message: JsonObject, secrets: readonly string[]): Promise<ReceiverResult> {
    return this.#options.send({
      url,
      headers: { "content-type": "application/json; charset=utf-8", "user-agent": "Troupe" },
      body: JSON.stringify(message),
      secrets,
      reads: true,
    });
  }
}

const UNREADABLE: UnreadableWords = {
  what: "The address or token of the receiver",
  remedy: "give the receivers again with all of their secrets",
};

/** Says that the Worker sends no e-mail. */
function noEmail(): ReceiverResult {
  const error =
    "E-mail is not configured: the Worker needs the binding SEND_EMAIL ([[send_email]] in wrangler.toml) and the setting EMAIL_FROM.";
  return { status: null, error, response: null, retryAfter: null, duration: 0 };
}
