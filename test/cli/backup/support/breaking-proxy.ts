import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Passes requests on to a server, and calls `broken` in place of the n-th answer. */
export class BreakingProxy implements AsyncDisposable {
  readonly #target: () => string;
  readonly #server: Server;
  #left = 0;
  #broken = (): void => {};

  private constructor(target: () => string) {
    this.#target = target;
    this.#server = createServer((request, response) => {
      this.#pass(request, response).catch(() => response.destroy());
    });
  }

  static async start(target: () => string): Promise<BreakingProxy> {
    const proxy = new BreakingProxy(target);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, "127.0.0.1", resolve);
    });
    return proxy;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @param count the answer that the client does not get, counted from now */
  breakAt(count: number, broken: () => void): void {
    this.#left = count;
    this.#broken = broken;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) {
      if (!["host", "connection", "content-length"].includes(name))
        headers.set(name, String(value));
    }
    const answer = await fetch(this.#target() + (request.url ?? ""), {
      method: request.method ?? "GET",
      headers,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const body = Buffer.from(await answer.arrayBuffer());
    this.#left--;
    if (this.#left === 0) {
      this.#broken();
      response.destroy();
      return;
    }
    const kept = ["content-type", "retry-after", "x-should-retry"].flatMap((name) => {
      const value = answer.headers.get(name);
      return value === null ? [] : [[name, value] as const];
    });
    response.writeHead(answer.status, Object.fromEntries(kept));
    response.end(body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}
