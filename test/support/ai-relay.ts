import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { pipeline } from "node:stream/promises";

const HEADER = "mf-header-";

/**
 * Stands where miniflare looks for Cloudflare when a Worker uses its `AI` binding, and passes requests on to another
 * service, with the path and the headers that the binding gave them.
 */
export class AiRelay implements AsyncDisposable {
  readonly #server = createServer((request, response) => {
    const left = new AbortController();
    response.once("close", () => left.abort());
    void (async () => {
      const { pathname, search } = new URL(String(request.headers["mf-url"]));
      const headers = Object.entries(request.headers)
        .filter(([name]) => name.startsWith(HEADER))
        .map(([name, value]) => [name.slice(HEADER.length), String(value)] as [string, string])
        .filter(([name]) => name !== "content-length");
      const answer = await fetch(this.#service + pathname + search, {
        method: request.method ?? "GET",
        headers,
        body: Buffer.concat(await request.toArray()),
        redirect: "manual",
        signal: left.signal,
      });
      const type = answer.headers.get("content-type");
      response.writeHead(answer.status, type === null ? {} : { "content-type": type });
      response.flushHeaders();
      await pipeline(Readable.fromWeb(answer.body as ReadableStream), response);
    })().catch(() => response.destroy());
  });
  readonly #service: string;

  private constructor(service: string) {
    this.#service = service;
  }

  /** @param service the origin of what acts as Workers AI */
  static async start(service: string): Promise<AiRelay> {
    const relay = new AiRelay(service);
    relay.#server.listen(0, "127.0.0.1");
    await once(relay.#server, "listening");
    return relay;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
