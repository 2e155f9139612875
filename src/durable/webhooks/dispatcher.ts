import { errorMessage } from "../../core/errors.ts";
import { DEFAULT_WEBHOOK } from "../../contract/constants.ts";
import type { PushBody, RunChange } from "../../contract/webhooks/run-change.ts";
import type { WebhookAttempt, WebhookInfo } from "../../contract/webhooks/webhook.ts";
import type { Database } from "../storage/database.ts";
import type { DeliveryTelemetry } from "../telemetry/delivery-telemetry.ts";
import { nextWait } from "./backoff.ts";
import type { DeliveryQueues } from "./delivery-queues.ts";
import type { DeliveryKey, DeliveryRecord, DeliveryStore } from "./delivery-store.ts";
import type { Retention } from "./retention.ts";
import type { SecretStore } from "./secret-store.ts";
import type { SignedRequest, Unsigned } from "./signing.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** How an attempt to deliver went. */
export interface SendResult {
  /** Null: there was no answer. */
  status: number | null;
  /** Why there was none. */
  error: string | null;
  /** The beginning of a failed answer's body. */
  response: string | null;
  /** Milliseconds that the receiver asked to wait. */
  retryAfter: number | null;
  /** Milliseconds. */
  duration: number;
}

/** Sends a signed delivery once; never rejects. */
export type SendWebhook = (request: SignedRequest) => Promise<SendResult>;

/** Writes a push notification in a format. */
export type WritePush = (format: string, change: RunChange) => Promise<PushBody>;

/** What the dispatcher works on. */
export interface DispatcherParts {
  db: Database;
  webhooks: WebhookStore;
  secrets: SecretStore;
  deliveries: DeliveryStore;
  queues: DeliveryQueues;
  retention: Retention;
  send: SendWebhook;
  writePush: WritePush;
  telemetry: DeliveryTelemetry;
  /** Called when the time of the next alarm may have changed. */
  arm: () => void;
}

const GONE = 410;

/** Until an attempt is repeated whose outcome could not be stored. */
const STORAGE_RETRY_MS = 5_000;

/** Only these answers have a `Retry-After` that says when the receiver can be asked again. */
const WITH_RETRY_AFTER: ReadonlySet<number | null> = new Set([429, 503]);

const GONE_REASON = "The receiver answered 410 Gone.";
const UNREACHABLE_REASON = "Deliveries failed for three days.";

/** Sends what is due, and stores how it went. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  #closed = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Starts all attempts that are due. */
  dispatch(): void {
    if (this.#closed) return;
    const { queues, arm } = this.#parts;
    for (let next = queues.take(Date.now()); next; next = queues.take(Date.now())) {
      void this.#attempt(next);
    }
    arm();
  }

  /** What is on its way changes nothing from now on: the storage is not ours any more. */
  close(): void {
    this.#closed = true;
  }

  /** Sends a test to a webhook, once. */
  async test(target: Unsigned, webhook: string): Promise<SendResult> {
    const result = await this.#try(async (now) => ({
      target,
      keys: await this.#keysOf(webhook, now),
    }));
    this.#parts.telemetry.tested(isDelivered(result));
    return result;
  }

  /** Stores that the webhook gets no more deliveries; those that are pending fail. */
  disable(webhook: WebhookInfo, reason: string): void {
    this.#parts.webhooks.disable(webhook, reason, Date.now());
    this.failPending(webhook.id);
  }

  failPending(webhook: string): void {
    const { deliveries, queues, retention } = this.#parts;
    deliveries.failPending(webhook);
    for (const _ of queues.clear(webhook)) retention.ended(webhook, "failed", Date.now());
  }

  #sendStored(
    { id, secret, push }: DeliveryRecord,
    target: Omit<Unsigned, "id">,
    webhook: string,
  ): Promise<SendResult> {
    return this.#try(async (now) => {
      const { secrets, writePush } = this.#parts;
      if (secret === null) {
        return { target: { id, ...target }, keys: await this.#keysOf(webhook, now) };
      }
      const opened = await secrets.open(secret);
      if (push === undefined) return { target: { id, ...target }, keys: [opened] };
      const { body, contentType } = await writePush(
        push.format,
        JSON.parse(target.body) as RunChange,
      );
      const headers = JSON.parse(opened) as Record<string, string>;
      const keys = await this.#keysOf(webhook, now);
      return { target: { id, ...target, body, contentType, headers }, keys };
    });
  }

  /** The secrets that sign for a webhook; those of the tenant are made when they are first needed. */
  async #keysOf(webhook: string, now: number): Promise<string[]> {
    const { secrets } = this.#parts;
    if (webhook === DEFAULT_WEBHOOK) await secrets.ensure(webhook);
    return secrets.signing(webhook, now);
  }

  /** @param make what is sent, and the secrets that sign it */
  async #try(
    make: (now: number) => Promise<{ target: Unsigned; keys: string[] }>,
  ): Promise<SendResult> {
    const now = Date.now();
    try {
      const { target, keys } = await make(now);
      const { signed } = await import("./signing.ts");
      return await this.#parts.send(signed(target, keys, now));
    } catch (error) {
      const none = { status: null, response: null, retryAfter: null };
      return { ...none, error: errorMessage(error), duration: Date.now() - now };
    }
  }

  async #attempt(key: DeliveryKey & { queue: string }): Promise<void> {
    const { deliveries, queues, webhooks, db, telemetry } = this.#parts;
    try {
      const delivery = deliveries.open(key);
      // The transaction that added it may have been rolled back.
      if (delivery === undefined) return queues.remove(key.queue, key.seq);
      const { record, body } = delivery;
      const url = webhooks.get(key.webhook)?.url ?? record.url;
      const at = Date.now();
      const target = { url, body, trace: telemetry.contextOf(record) };
      const result = await this.#sendStored(record, target, key.webhook);
      if (this.#closed) return;
      db.transaction(() => this.#settle(key, url, result));
      // Only now: an attempt whose outcome is not stored is made again, with the same span.
      const { webhook } = key;
      const { status } = result;
      telemetry.attempted(record, { webhook, url, at, status, delivered: isDelivered(result) });
    } catch {
      // Nothing was stored, so the delivery is still pending.
      queues.postpone(key.queue, key.seq, Date.now() + STORAGE_RETRY_MS);
    } finally {
      if (!this.#closed) {
        queues.release(key);
        this.dispatch();
      }
    }
  }

  #settle(key: DeliveryKey & { queue: string }, url: string, result: SendResult): void {
    const { deliveries, queues, retention, webhooks } = this.#parts;
    // It may have been removed or given up in the meantime.
    const delivery = deliveries.open(key);
    if (delivery === undefined) return queues.remove(key.queue, key.seq);
    const now = Date.now();
    const record = attempted(delivery.record, url, result, now);
    if (isDelivered(result)) {
      deliveries.save(delivery, "delivered", record);
      queues.remove(key.queue, key.seq);
      return retention.ended(key.webhook, "delivered", now);
    }
    const webhook = webhooks.get(key.webhook);
    const gone = result.status === GONE;
    const asked = WITH_RETRY_AFTER.has(result.status) ? result.retryAfter : null;
    const wait = gone ? null : nextWait(record.tries, asked, Math.random());
    if (wait !== null) {
      deliveries.save(delivery, "pending", { ...record, next_at: now + wait });
      return queues.postpone(key.queue, key.seq, now + wait);
    }
    deliveries.save(delivery, "failed", record);
    queues.remove(key.queue, key.seq);
    retention.ended(key.webhook, "failed", now);
    if (key.webhook === DEFAULT_WEBHOOK) this.#failQueue(key);
    else if (webhook?.url !== url) return;
    else if (gone) this.disable(webhook, GONE_REASON);
    // What arrives shows that the receiver is there, and refuses this one.
    else if (!deliveries.deliveredAfter(key)) this.disable(webhook, UNREACHABLE_REASON);
  }

  /** The other deliveries of a run go to the same receiver. */
  #failQueue({ webhook, queue }: DeliveryKey & { queue: string }): void {
    const { deliveries, queues, retention } = this.#parts;
    for (const seq of queues.clear(webhook, queue)) {
      const delivery = deliveries.open({ webhook, seq });
      if (delivery === undefined) continue;
      deliveries.save(delivery, "failed", delivery.record);
      retention.ended(webhook, "failed", Date.now());
    }
  }
}

/** Whether the receiver took it: any 2xx. */
export function isDelivered({ status }: SendResult): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** How an attempt is shown. */
export function shownResult(result: SendResult): Omit<WebhookAttempt, "at"> {
  const { status, error, response, duration } = result;
  const failure = isDelivered(result) ? null : (error ?? `The receiver answered ${status}.`);
  return { status, error: failure, response, duration_ms: duration };
}

function attempted(
  record: DeliveryRecord,
  url: string,
  result: SendResult,
  now: number,
): DeliveryRecord {
  return {
    ...record,
    url,
    attempts: record.attempts + 1,
    tries: record.tries + 1,
    last_attempt: {
      at: new Date(now - result.duration).toISOString(),
      ...shownResult(result),
    },
  };
}
