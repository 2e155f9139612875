import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { requestBody } from "../../support/request-body.ts";

/** An effect that a tool or agent of the chaos worker asked for. */
export interface Effect {
  name: string;
  key: string;
  /** Epoch milliseconds. */
  at: number;
}

/** Answers and counts effects by their idempotency key, as a service that deduplicates would. */
export class EffectsServer {
  readonly calls: Effect[] = [];
  /** Called when an effect has happened and its answer has not been sent yet. */
  onEffect: ((effect: Effect) => void) | undefined;
  readonly #results = new Map<string, string>();
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/effects`;
  }

  /** Counts an effect, which may also have taken place elsewhere. */
  happened(effect: Effect): void {
    this.calls.push(effect);
    this.onEffect?.(effect);
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = await requestBody(request);
    if (name === undefined) return;
    const key = String(request.headers["idempotency-key"]);
    const result = this.#results.get(key) ?? `${name} happened`;
    this.#results.set(key, result);
    this.happened({ name, key, at: Date.now() });
    response.end(result);
  }
}
