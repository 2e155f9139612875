import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";

/** A client of one tenant that keeps its connections. */
export class KeyedClient implements Disposable {
  readonly #origin: string;
  readonly #credential: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(origin: string, credential: string) {
    this.#origin = origin;
    this.#credential = credential;
  }

  /** POST with a body, else GET. @throws Error for a status of 300 or more */
  async ask<T>(path: string, body?: object): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const sent = request(this.#origin + path, {
      agent: this.#agent,
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${this.#credential}`,
        ...(body && { "content-type": "application/json" }),
      },
    });
    sent.on("error", reject).on("response", (response) => {
      const { statusCode = 0 } = response;
      if (statusCode < 300) resolve(json(response) as Promise<T>);
      else reject(new Error(`${path}: ${statusCode}`));
    });
    sent.end(body && JSON.stringify(body));
    return promise;
  }

  /** Milliseconds from the request to its answer. */
  async timed(path: string): Promise<number> {
    const started = performance.now();
    await this.ask(path);
    return performance.now() - started;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
