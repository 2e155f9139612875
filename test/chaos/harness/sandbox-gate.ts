import { createServer, request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EffectsServer } from "./effects-server.ts";

/** Stands before the sandbox: that code has begun to print, and that it has ended, count as effects. */
export class SandboxGate {
  readonly #sandbox: string;
  readonly #effects: EffectsServer;
  readonly #server = createServer((request, response) => this.#serve(request, response));

  /** @param sandbox URL of the sandbox */
  constructor(sandbox: string, effects: EffectsServer) {
    this.#sandbox = sandbox;
    this.#effects = effects;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { method, headers, url } = request;
    const key = String(headers["idempotency-key"]);
    const forwarded = ask(`${this.#sandbox}${url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      const expected = ["event: output", "event: result"];
      answer.on("data", (chunk: Buffer) => {
        while (expected[0] !== undefined && chunk.includes(expected[0])) {
          this.#effects.happened({ name: expected.shift() ?? "", key, at: Date.now() });
        }
        response.write(chunk);
      });
      answer.on("end", () => response.end());
      answer.on("error", () => response.destroy());
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  }
}
