import type { ServerResponse } from "node:http";
import { EchoServer, type SeenRequest } from "../echo-server.ts";

export interface TelegramMessage {
  chat_id: string;
  text: string;
  parse_mode: string;
}

type Refusal = {
  error_code: number;
  description: string;
  parameters?: object;
};

/** The server of bots, with one bot in one chat, that refuses what Telegram refuses. */
export class FakeTelegram implements AsyncDisposable {
  readonly token = "123456:AAbot-tokenThatNobodyKnows";
  readonly chat = "-1001";
  /** The next refusals, instead of the checks. */
  readonly next: Refusal[] = [];
  readonly accepted: TelegramMessage[] = [];
  readonly refused: Refusal[] = [];
  #server: EchoServer | undefined;

  static async start(): Promise<FakeTelegram> {
    const telegram = new FakeTelegram();
    telegram.#server = await EchoServer.start((response, request) =>
      telegram.#answer(response, request),
    );
    return telegram;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#server?.port}`;
  }

  #answer(response: ServerResponse, { path, body }: SeenRequest): void {
    const message = JSON.parse(body) as TelegramMessage;
    const refusal = this.next.shift() ?? this.#refusalOf(path, message);
    if (refusal === undefined) {
      this.accepted.push(message);
      return send(response, 200, { ok: true, result: { message_id: this.accepted.length } });
    }
    this.refused.push(refusal);
    return send(response, refusal.error_code, { ok: false, ...refusal });
  }

  #refusalOf(path: string, { chat_id, text, parse_mode }: TelegramMessage): Refusal | undefined {
    if (path !== `/bot${this.token}/sendMessage`) {
      return { error_code: 404, description: "Not Found" };
    }
    if (chat_id !== this.chat) return bad("Bad Request: chat not found");
    if (text === "") return bad("Bad Request: message text is empty");
    if (text.length > 4_096) return bad("Bad Request: message is too long");
    const problem = parse_mode === "HTML" ? htmlProblem(text) : undefined;
    return problem === undefined ? undefined : bad(`Bad Request: can't parse entities: ${problem}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

function bad(description: string): Refusal {
  return { error_code: 400, description };
}

/** Telegram knows a few tags, which must be closed in their order, and four entities. */
function htmlProblem(text: string): string | undefined {
  const open: string[] = [];
  for (const [whole, close, name = ""] of text.matchAll(/<(\/?)([a-z]*)([^<>]*)>?/g)) {
    if (!whole.endsWith(">") || !["b", "i", "pre", "code", "a"].includes(name)) {
      return `unsupported start tag "${name}"`;
    }
    if (close === "") open.push(name);
    else if (open.pop() !== name) return `unexpected end tag "${name}"`;
  }
  if (open.length > 0) return `can't find end tag "${open.at(-1)}"`;
  return /&(?!(amp|lt|gt|quot);)/.test(text) ? "unknown entity" : undefined;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
