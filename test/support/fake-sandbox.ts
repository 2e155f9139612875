import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { requestBody } from "./request-body.ts";

/** A request to the sandbox. */
export interface SandboxCall {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
}

export type SandboxReply = (response: ServerResponse, call: SandboxCall) => void | Promise<void>;

/** A sandbox that answers as a test scripts it; an unexpected or a missing call fails the test. */
export class FakeSandbox implements AsyncDisposable {
  readonly calls: SandboxCall[] = [];
  readonly #server: Server;
  readonly #replies: { method: string; reply: SandboxReply }[] = [];
  readonly #unexpected: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeSandbox> {
    const server = createServer();
    const sandbox = new FakeSandbox(server);
    server.on("request", (request, response) => void sandbox.#answer(request, response));
    await once(server.listen(0, "127.0.0.1"), "listening");
    return sandbox;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The next call must be of this method. */
  expect(method: "GET" | "POST" | "PUT" | "DELETE", reply: SandboxReply): void {
    this.#replies.push({ method, reply });
  }

  /** The next calls must be requests to execute. */
  expectExecute(...replies: SandboxReply[]): void {
    for (const reply of replies) this.expect("POST", reply);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
    if (this.#unexpected.length > 0)
      throw new Error(`not expected: ${this.#unexpected.join(", ")}`);
    if (this.#replies.length > 0) {
      throw new Error(`did not come: ${this.#replies.map(({ method }) => method).join(", ")}`);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = request;
    const body = await requestBody(request);
    if (body === undefined) return;
    const call = { method, path, headers, body };
    this.calls.push(call);
    const next = this.#replies[0];
    if (next?.method !== method) {
      this.#unexpected.push(`${method} ${path}`);
      response.writeHead(418).end();
      return;
    }
    this.#replies.shift();
    await next.reply(response, call);
  }
}

/** A result in a stream, behind some output. */
export function streamed(result: object, ...output: string[]): SandboxReply {
  return (response) => {
    openStream(response);
    for (const piece of output) sendEvent(response, "output", { text: piece });
    sendEvent(response, "result", result);
    response.end();
  };
}

/** A problem document. */
export function refused(
  status: number,
  problem: object = {},
  headers: Record<string, string> = {},
): SandboxReply {
  return (response) => {
    response.writeHead(status, { "content-type": "application/problem+json", ...headers });
    response.end(JSON.stringify({ status, ...problem }));
  };
}

export function openStream(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
}

export function sendEvent(response: ServerResponse, event: string, data: object): void {
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
}
