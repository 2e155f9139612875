import { Webhook } from "standardwebhooks";
import type { SignedRequest } from "#tenant/webhooks/signing.ts";
import type { SendResult } from "#tenant/webhooks/dispatcher.ts";

/** How a receiver answers an attempt: a status, or a result with more in it. */
type Answer = number | Partial<SendResult>;

/** What a receiver saw of an attempt. */
export interface Received {
  id: string;
  url: string;
  timestamp: number;
  signature: string;
  body: string;
  event: { type: string; timestamp: string; data: Record<string, unknown> };
}

/** Tests and objects share an isolate, so a test can say how the receivers of all webhooks answer. */
export class Receivers {
  readonly received: Received[] = [];
  /** Requests at this moment, and the most there were. */
  active = 0;
  mostActive = 0;
  answer: (request: Received) => Answer | Promise<Answer> = () => 200;

  reset(): void {
    this.received.length = 0;
    this.mostActive = this.active;
    this.answer = () => 200;
  }

  async send({ url, headers, body }: SignedRequest): Promise<SendResult> {
    const request: Received = {
      id: headers["webhook-id"] ?? "",
      url,
      timestamp: Number(headers["webhook-timestamp"]),
      signature: headers["webhook-signature"] ?? "",
      body,
      event: JSON.parse(body) as Received["event"],
    };
    this.received.push(request);
    this.active++;
    this.mostActive = Math.max(this.mostActive, this.active);
    try {
      const answer = await this.answer(request);
      const given = typeof answer === "number" ? { status: answer } : answer;
      return { status: null, error: null, response: null, retryAfter: null, duration: 1, ...given };
    } finally {
      this.active--;
    }
  }
}

export const receivers = new Receivers();

/** Whether a delivery was signed with this secret, by the library that receivers use. */
export function isSignedWith(
  secret: string,
  { id, timestamp, signature, body }: Received,
): boolean {
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signature,
  };
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}
