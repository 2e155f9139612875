import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, ServerProcess } from "./server-process.ts";
import type { Product } from "./product.ts";

/** `troupe serve` of the installed package, started as its page says. */
export class TroupeServer implements AsyncDisposable {
  readonly process: ServerProcess;
  readonly #origin: string;
  readonly #key: string;

  private constructor(server: ServerProcess, origin: string, key: string) {
    this.process = server;
    this.#origin = origin;
    this.#key = key;
  }

  /**
   * @param state the directory of its state
   * @param upstream the model server that its agents may reach
   * @param settings what its environment has for the Worker
   */
  static async start(
    { directory, program }: Product,
    state: string,
    upstream: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<TroupeServer> {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const server = await ServerProcess.start({
      program: process.execPath,
      args: [program, "serve", "--port", String(port), "--state", state, "--no-sandbox"],
      cwd: directory,
      env: { ALLOWED_EGRESS: new URL(upstream).origin, ...settings },
      health: `${origin}/healthz`,
    });
    return new TroupeServer(server, origin, readFileSync(join(state, "api-key"), "utf8").trim());
  }

  /** @throws Error for a response that is not a success */
  async send(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    const response = await fetch(this.#origin + path, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${this.#key}`,
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  }

  async json<T>(method: string, path: string, body?: object): Promise<T> {
    return (await (await this.send(method, path, body)).json()) as T;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.process[Symbol.asyncDispose]();
  }
}
