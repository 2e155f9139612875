import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { vi } from "vitest";
import { EchoServer, type SeenRequest } from "./echo-server.ts";
import { PATIENCE } from "./patience.ts";

/** An event as a receiver gets it. */
export interface ReceivedEvent {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** A receiver of webhooks over HTTP, on this machine. */
export class WebhookReceiver implements AsyncDisposable {
  /** How it answers; 200 unless a test says otherwise. */
  respond: (response: ServerResponse) => void = accept;
  #server: EchoServer | undefined;

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver();
    receiver.#server = await EchoServer.start((response) => receiver.respond(response));
    return receiver;
  }

  get received(): SeenRequest[] {
    return this.#server?.requests ?? [];
  }

  url(path = "/hook"): string {
    return `http://127.0.0.1:${this.#server?.port}${path}`;
  }

  /** Forgets what it received, and answers 200. */
  reset(): void {
    this.received.length = 0;
    this.respond = accept;
  }

  /** The events that came to a path, in order, once there are as many. @throws unless each is signed with the secret */
  async events(secret: string, count: number, path = "/hook"): Promise<ReceivedEvent[]> {
    const requests = await vi.waitUntil(() => {
      const found = this.received.filter((request) => request.path === path);
      return found.length >= count && found;
    }, PATIENCE);
    const webhook = new Webhook(secret);
    return requests.map(
      ({ body, headers }) =>
        webhook.verify(body, headers as Record<string, string>) as ReceivedEvent,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.[Symbol.asyncDispose]();
  }
}

function accept(response: ServerResponse): void {
  response.end();
}
