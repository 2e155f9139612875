import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { requestBody } from "./request-body.ts";

/** A request as a server saw it. */
export interface SeenRequest {
  method: string;
  /** Path and query as they came. */
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

type Answer = (response: ServerResponse, request: SeenRequest) => void | Promise<void>;

/** A local HTTP server that remembers what it was asked. */
export class EchoServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = [];
  /** Called when a client has left before its answer was complete. */
  onGone: (() => void) | undefined;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #answer: Answer;

  private constructor(answer: Answer) {
    this.#answer = answer;
  }

  /** @param port 0: any free one */
  static async start(
    answer: Answer = (response) => void response.end("ok"),
    port = 0,
  ): Promise<EchoServer> {
    const server = new EchoServer(answer);
    server.#server.listen(port, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    if (this.#server.listening) await once(this.#server, "close");
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await requestBody(request);
    if (body === undefined) return;
    const { method = "", url = "", headers } = request;
    const seen = { method, path: url, headers, body };
    this.requests.push(seen);
    response.on("close", () => {
      if (!response.writableFinished) this.onGone?.();
    });
    await this.#answer(response, seen);
  }
}
