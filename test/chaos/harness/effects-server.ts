import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { requestBody } from "../../support/request-body.ts";
import { mcpTools } from "./mcp-tools.ts";

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
  readonly #mcp = toNodeHandler(mcpTools((name, key) => this.#effect(name, key)));
  readonly #server = createServer((request, response) => {
    if (request.url === "/mcp") void this.#mcp(request, response);
    else void this.#serve(request, response);
  });

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `${this.#origin}/effects`;
  }

  /** The URL of an MCP server whose tools have effects. */
  get mcpUrl(): string {
    return `${this.#origin}/mcp`;
  }

  get #origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
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
    response.end(this.#effect(name, String(request.headers["idempotency-key"])));
  }

  #effect(name: string, key: string): string {
    const result = this.#results.get(key) ?? `${name} happened`;
    this.#results.set(key, result);
    this.happened({ name, key, at: Date.now() });
    return result;
  }
}
