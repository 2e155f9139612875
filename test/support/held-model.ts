import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that a model server got and has not answered. */
export interface HeldRequest {
  /** The texts of its messages, in their order. */
  texts: string[];
  /** Resolves once the connection is closed. */
  readonly closed: Promise<void>;
  /** Begins to stream: the first piece of the answer. */
  begin(text: string): void;
  /** Streams the rest of the answer, or all of it. */
  end(text: string): void;
  /** Calls a tool. */
  call(name: string, args?: object): void;
  /** Breaks off with an error that no attempt repeats. */
  fail(): void;
}

/** A server of OpenAI's chat completions whose answers a test writes by hand, when it wants. */
export class HeldModel implements AsyncDisposable {
  readonly requests: HeldRequest[] = [];
  readonly #waiting = new Set<() => void>();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString() || "{}";
        const { messages = [] } = JSON.parse(body) as { messages?: Content[] };
        this.requests.push(heldRequest(messages, response));
        for (const wake of this.#waiting) wake();
      });
    });
  }

  static async start(): Promise<HeldModel> {
    const model = new HeldModel();
    await new Promise<void>((resolve) => {
      model.#server.listen(0, "127.0.0.1", resolve);
    });
    return model;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A client that streams from it. */
  client(more: object = {}): object {
    return {
      provider: "OpenAIChatCompletionClient",
      config: {
        model: "gpt-4o",
        api_key: "key",
        base_url: `${this.origin}/v1`,
        api: "chat_completions",
        ...more,
      },
    };
  }

  /** The request with this number, from 1, once it has come. */
  async request(number: number): Promise<HeldRequest> {
    while (this.requests.length < number) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
    return this.requests[number - 1] as HeldRequest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

interface Content {
  content: string | { text?: string }[] | null;
}

function heldRequest(messages: readonly Content[], response: ServerResponse): HeldRequest {
  let begun = false;
  const send = (delta: object, finish_reason: string | null, usage?: object): void => {
    if (!begun) response.writeHead(200, { "content-type": "text/event-stream" });
    begun = true;
    const choices = [{ index: 0, delta, finish_reason }];
    const chunk = { id: "c", object: "chat.completion.chunk", model: "gpt-4o", choices, usage };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const close = (reason: string): void => {
    send({}, reason, { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 });
    response.end("data: [DONE]\n\n");
  };
  const closed = new Promise<void>((resolve) => {
    response.on("close", resolve);
  });
  return {
    texts: messages.map(({ content }) =>
      typeof content === "string"
        ? content
        : (content ?? []).map((part) => part.text ?? "").join("\n"),
    ),
    closed,
    begin: (content) => send({ role: "assistant", content }, null),
    end(content) {
      send({ content }, null);
      close("stop");
    },
    call(name, args = {}) {
      const call = { index: 0, id: "c1", type: "function" };
      const tool_calls = [{ ...call, function: { name, arguments: JSON.stringify(args) } }];
      send({ role: "assistant", content: null, tool_calls }, null);
      close("tool_calls");
    },
    fail() {
      const error = { message: "Not so.", type: "invalid_request_error", code: "bad" };
      if (!begun) response.writeHead(400, { "content-type": "application/json" });
      response.end(begun ? `data: ${JSON.stringify({ error })}\n\n` : JSON.stringify({ error }));
    },
  };
}
