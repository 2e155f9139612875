import { errorMessage } from "../../core/errors.ts";
import { DEFAULT_WEBHOOK } from "../../contract/constants.ts";
import type { PushBody, RunChange } from "../../contract/stream/run-change.ts";
import type { WebhookAttempt, WebhookInfo } from "../../contract/webhook.ts";
import type { Database } from "../../sqlite/database.ts";
import type { DeliveryTelemetry } from "./delivery-telemetry.ts";
import { type DeliveryQueues, nextWait, receiverQueue } from "./delivery-queues.ts";
import type { NotifyStore } from "../notify/notify-store.ts";
import type { ReceiverSender } from "../notify/receiver-sender.ts";
import type {
  DeliveryKey,
  DeliveryRecord,
  DeliveryStore,
  ReceiverOfDelivery,
} from "./delivery-store.ts";
import type { Retention } from "./retention.ts";
import type { SecretStore } from "./secret-store.ts";
import type { SignedRequest, Unsigned } from "./signing.ts";
import type { WebhookStore } from "./webhook-store.ts";

/** The outcome of a delivery attempt. */
export interface SendResult {
  /** Null when there was no answer. */
  status: number | null;
  /** Why there was no answer. */
  error: string | null;
  /** The beginning of a failed answer's body. */
  response: string | null;
  /** Milliseconds that the receiver asked to wait. */
  retryAfter: number | null;
  /** Milliseconds. */
  duration: number;
  /** Why no other attempt is made: the receiver takes this message, or anything, never. */
  refused?: "message" | "receiver";
}

/** Sends a signed delivery once; never rejects. */
export type SendWebhook = (request: SignedRequest) => Promise<SendResult>;

/** Encodes a push notification in a format. */
export type WritePush = (format: string, change: RunChange) => Promise<PushBody>;

/** Dependencies of the dispatcher. */
export interface DispatcherParts {
  db: Database;
  webhooks: WebhookStore;
  secrets: SecretStore;
  deliveries: DeliveryStore;
  queues: DeliveryQueues;
  retention: Retention;
  send: SendWebhook;
  writePush: WritePush;
  receivers: { store: NotifyStore; sender: ReceiverSender };
  telemetry: DeliveryTelemetry;
  /** Called when the time of the next alarm may have changed. */
  setAlarm: () => void;
}

const GONE = 410;

/** Milliseconds until an attempt is repeated whose outcome could not be stored. */
const STORAGE_RETRY_MS = 5_000;

/** Only these answers have a `Retry-After` that says when the receiver can be asked again. */
const WITH_RETRY_AFTER: ReadonlySet<number | null> = new Set([429, 503]);

const GONE_REASON = "The receiver answered 410 Gone.";
const UNREACHABLE_REASON = "Deliveries failed for three days.";

/** Sends deliveries that are due and stores their outcomes. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  #closed = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
  }

  /** Starts all attempts that are due. */
  dispatch(): void {
    if (this.#closed) return;
    const { queues, setAlarm } = this.#parts;
    for (let next = queues.take(Date.now()); next; next = queues.take(Date.now())) {
      void this.#attempt(next);
    }
    setAlarm();
  }

  /** Stops: requests in flight change nothing from now on, because the storage no longer belongs to this tenant. */
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

  /** Stores that the webhook gets no more deliveries, and fails the pending ones. */
  disable(webhook: WebhookInfo, reason: string): void {
    this.#parts.webhooks.disable(webhook, reason, Date.now());
    this.failPending(webhook.id);
  }

  /** Stores that a receiver of a team gets no more messages, and fails the pending ones. Those of a run fail only. */
  disableReceiver(
    of: Pick<DeliveryRecord, "team_id" | "run_id"> & { receiver: ReceiverOfDelivery },
    reason: string,
  ): void {
    const { shown, of: owner } = of.receiver;
    const { store } = this.#parts.receivers;
    if (owner === "team") store.disable(of.team_id, shown.id, reason, Date.now());
    this.#failQueue({ webhook: DEFAULT_WEBHOOK, queue: receiverQueue(of) });
  }

  failPending(webhook: string): void {
    const { deliveries, queues, retention } = this.#parts;
    deliveries.failPending(webhook);
    for (const _ of queues.clear(webhook)) retention.ended(webhook, "failed", Date.now());
  }

  #sendStored(
    record: DeliveryRecord,
    target: Omit<Unsigned, "id">,
    webhook: string,
  ): Promise<SendResult> {
    const { id, secret, push } = record;
    if (record.receiver !== undefined) return this.#sendMessage(record, target, webhook);
    return this.#try(async (now) => {
      const { secrets, writePush } = this.#parts;
      if (secret === null) {
        return { target: { id, ...target }, keys: await this.#keysOf(webhook, now) };
      }
      const opened = await secrets.ofRun(secret);
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

  /** A message to a receiver: one of a team as it is now, if it is still there. */
  async #sendMessage(
    { id, team_id, receiver: stored, created_at, attempts }: DeliveryRecord,
    target: Omit<Unsigned, "id">,
    webhook: string,
  ): Promise<SendResult> {
    const { store, sender } = this.#parts.receivers;
    const receiver = stored?.of === "team" ? store.find(team_id, stored.shown.id) : stored;
    if (receiver === undefined) return { ...NO_ANSWER, error: REMOVED, refused: "message" };
    const message = {
      id,
      at: Date.parse(created_at),
      receiver,
      body: target.body,
      isRepeated: attempts > 0,
    };
    if (receiver.shown.kind !== "webhook") {
      const now = Date.now();
      return sender.send(message).catch((error: unknown) => failed(error, now));
    }
    return this.#try(async (now) => ({
      target: { id, ...target, ...(await sender.webhook(message)) },
      keys: await this.#keysOf(webhook, now),
    }));
  }

  /** The secrets that sign for a webhook. The tenant's secret is created on first use. */
  async #keysOf(webhook: string, now: number): Promise<string[]> {
    const { secrets } = this.#parts;
    if (webhook === DEFAULT_WEBHOOK) await secrets.ensure(webhook);
    return secrets.signing(webhook, now);
  }

  /** @param make gives the body and the secrets that sign it */
  async #try(
    make: (now: number) => Promise<{ target: Unsigned; keys: string[] }>,
  ): Promise<SendResult> {
    const now = Date.now();
    try {
      const { target, keys } = await make(now);
      const { signed } = await import("./signing.ts");
      return await this.#parts.send(signed(target, keys, now));
    } catch (error) {
      return failed(error, now);
    }
  }

  async #attempt(key: DeliveryKey & { queue: string }): Promise<void> {
    const { deliveries, queues, webhooks, db, telemetry } = this.#parts;
    try {
      const delivery = deliveries.open(key);
      // The transaction that added the delivery may have been rolled back.
      if (delivery === undefined) return queues.remove(key.queue, key.seq);
      const { record, body } = delivery;
      const url = webhooks.get(key.webhook)?.url ?? record.url;
      const at = Date.now();
      const target = { url, body, trace: telemetry.contextOf(record), hops: record.hops };
      const result = await this.#sendStored(record, target, key.webhook);
      if (this.#closed) return;
      db.transaction(() => this.#storeOutcome(key, url, result));
      // Reported only now: an attempt whose outcome is not stored is repeated, with the same span.
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

  #storeOutcome(key: DeliveryKey & { queue: string }, url: string, result: SendResult): void {
    const { deliveries, queues, retention, webhooks } = this.#parts;
    // The delivery may have been removed or given up in the meantime.
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
    const isFinal = gone || result.refused !== undefined;
    const wait = isFinal ? null : nextWait(record.tries, asked, Math.random());
    if (wait !== null) {
      deliveries.save(delivery, "pending", { ...record, next_at: now + wait });
      return queues.postpone(key.queue, key.seq, now + wait);
    }
    deliveries.save(delivery, "failed", record);
    queues.remove(key.queue, key.seq);
    retention.ended(key.webhook, "failed", now);
    const { receiver } = record;
    if (receiver !== undefined) this.#endReceiver({ ...record, receiver }, result);
    else if (key.webhook === DEFAULT_WEBHOOK) this.#failQueue(key);
    else if (webhook?.url !== url) return;
    else if (gone) this.disable(webhook, GONE_REASON);
    // An answer shows that the receiver is up and refuses only this delivery.
    else if (!deliveries.deliveredAfter(key)) this.disable(webhook, UNREACHABLE_REASON);
  }

  /** After a delivery has failed: a message that was refused for itself ends no other. */
  #endReceiver(
    record: DeliveryRecord & { receiver: ReceiverOfDelivery },
    { refused, error, status }: SendResult,
  ): void {
    if (refused === "message") return;
    if (refused === "receiver") return this.disableReceiver(record, error ?? GONE_REASON);
    this.disableReceiver(record, status === GONE ? GONE_REASON : UNREACHABLE_REASON);
  }

  /** The other deliveries of the run go to the same receiver. */
  #failQueue({ webhook, queue }: { webhook: string; queue: string }): void {
    const { deliveries, queues, retention } = this.#parts;
    for (const seq of queues.clear(webhook, queue)) {
      const delivery = deliveries.open({ webhook, seq });
      if (delivery === undefined) continue;
      deliveries.save(delivery, "failed", delivery.record);
      retention.ended(webhook, "failed", Date.now());
    }
  }
}

const NO_ANSWER = { status: null, response: null, retryAfter: null, duration: 0 };

const REMOVED = "The receiver is no longer in the team's list.";

function failed(error: unknown, since: number): SendResult {
  return { ...NO_ANSWER, error: errorMessage(error), duration: Date.now() - since };
}

/** True if the receiver took it: any 2xx whose body says nothing else. */
export function isDelivered({ status, error }: SendResult): boolean {
  return status !== null && status >= 200 && status < 300 && error === null;
}

/** An attempt as the API shows it. */
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
