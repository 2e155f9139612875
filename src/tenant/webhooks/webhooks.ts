import type { SecretPushConfig } from "../../contract/push.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Sealer } from "../../secrets/sealer.ts";
import { DEFAULT_WEBHOOK } from "../../contract/constants.ts";
import type { OutboxEntry } from "../../contract/directory.ts";
import type { WebhookEvent, WebhookInfo } from "../../contract/webhook.ts";
import type { Database } from "../../sqlite/database.ts";
import type { NotifyStore } from "../notify/notify-store.ts";
import type { ReceiverSender } from "../notify/receiver-sender.ts";
import type { DeliveryTelemetry } from "./delivery-telemetry.ts";
import { DeliveryQueues, type PushesOf } from "./delivery-queues.ts";
import { DeliveryStore, type ReceiverOfDelivery, receiverAddress } from "./delivery-store.ts";
import { Dispatcher, type SendWebhook, type WritePush } from "./dispatcher.ts";
import { eventBody } from "./event-body.ts";
import { Retention } from "./retention.ts";
import { SecretStore } from "./secret-store.ts";
import { webhookEvents } from "./webhook-events.ts";
import { WebhookStore } from "./webhook-store.ts";

/** The most pending deliveries of a webhook; with more it is disabled. */
const MOST_PENDING = 10_000;

/** The most pending deliveries of a team to one of its receivers; with more it is disabled. */
const MOST_PENDING_OF_RECEIVER = 1_000;

/** The receivers of teams, and who writes to them. */
export interface Receivers {
  store: NotifyStore;
  sender: ReceiverSender;
}

/** Dependencies of the webhooks on their object. */
export interface WebhookHost {
  db: Database;
  receivers: Receivers;
  sealer: Sealer;
  send: SendWebhook;
  writePush: WritePush;
  telemetry: DeliveryTelemetry;
  /** Called when {@link Webhooks.alarmAt} may have changed. */
  setAlarm: () => void;
}

/** The webhooks of a tenant and their deliveries: what its object calls. */
export class Webhooks {
  readonly db: Database;
  readonly store: WebhookStore;
  readonly secrets: SecretStore;
  readonly deliveries: DeliveryStore;
  readonly queues = new DeliveryQueues();
  readonly dispatcher: Dispatcher;
  readonly #retention: Retention;
  readonly #receivers: NotifyStore;

  constructor({ db, sealer, send, writePush, telemetry, setAlarm, receivers }: WebhookHost) {
    this.db = db;
    this.#receivers = receivers.store;
    this.store = new WebhookStore(db);
    this.secrets = new SecretStore(db, sealer);
    this.deliveries = new DeliveryStore(db);
    for (const delivery of this.deliveries.pending()) this.queues.add(delivery);
    this.#retention = new Retention(db, () => [
      DEFAULT_WEBHOOK,
      ...this.store.list().map(({ id }) => id),
    ]);
    this.dispatcher = new Dispatcher({
      db,
      webhooks: this.store,
      secrets: this.secrets,
      deliveries: this.deliveries,
      queues: this.queues,
      retention: this.#retention,
      send,
      writePush,
      receivers,
      telemetry,
      setAlarm,
    });
  }

  /**
   * Stores deliveries for the entries of a team; must be called in the transaction that applies the entries. They are
   * sent after the transaction.
   *
   * @returns whether there are any deliveries
   */
  offer(team: string, entries: readonly OutboxEntry[]): boolean {
    let offered = false;
    for (const entry of entries) {
      for (const event of webhookEvents(team, entry)) offered = this.#offer(event) || offered;
      if (entry.kind === "push_deleted") this.#forget({ team, push: [entry.run_id, entry.id] });
      if (entry.kind === "deleted") this.#forget({ team });
    }
    if (offered) queueMicrotask(() => this.dispatcher.dispatch());
    return offered;
  }

  /** True if a webhook or a receiver wants the messages of a team. */
  wantsMessages(team: string): boolean {
    const event = { type: "message", team_id: team } as const;
    return this.store.wanting(event).length > 0 || this.#receivers.wanting(event).length > 0;
  }

  /** When {@link onAlarm} has to be called, epoch milliseconds; null until another event. */
  alarmAt(): number | null {
    const times = [this.queues.alarmAt(Date.now()), this.#retention.at].filter(
      (time) => time !== null,
    );
    return times.length === 0 ? null : Math.min(...times);
  }

  /** Sends due deliveries and removes old ones. */
  onAlarm(): void {
    this.#retention.clean(Date.now());
    this.dispatcher.dispatch();
  }

  /** Stops when the tenant's data is deleted. */
  close(): void {
    this.dispatcher.close();
  }

  /** Returns whether the delivery has to be sent. */
  #offer(event: WebhookEvent): boolean {
    const webhooks = this.store.wanting(event);
    for (const webhook of webhooks) this.#add(webhook, event);
    const { webhook, push, type } = event;
    const ofRun = webhook?.events.includes(type) ? webhook : undefined;
    if (ofRun !== undefined) {
      const now = Date.now();
      this.queues.add(this.deliveries.add(DEFAULT_WEBHOOK, event, ofRun, eventBody(event), now));
    }
    for (const config of push?.configs ?? []) this.#addPush(config, event, push?.change ?? {});
    const receivers = this.#receiversOf(event);
    for (const receiver of receivers) this.#addMessage(receiver, event);
    return webhooks.length > 0 || ofRun !== undefined || push !== undefined || receivers.length > 0;
  }

  #receiversOf(event: WebhookEvent): ReceiverOfDelivery[] {
    const { type, notify = [] } = event;
    return [
      ...this.#receivers
        .wanting(event)
        .map(({ disabled_at: _at, disabled_reason: _reason, ...one }) => ({
          ...one,
          of: "team" as const,
        })),
      ...notify
        .filter(({ shown }) => shown.on.includes(type))
        .map((one) => ({ ...one, of: "run" as const })),
    ];
  }

  #addMessage(receiver: ReceiverOfDelivery, event: WebhookEvent): void {
    const { team_id, run_id } = event;
    if (this.queues.sizeOf({ team_id, run_id, receiver }) >= MOST_PENDING_OF_RECEIVER) {
      const reason = `More than ${MOST_PENDING_OF_RECEIVER} messages were pending.`;
      return this.dispatcher.disableReceiver({ team_id, run_id, receiver }, reason);
    }
    const target = { url: receiverAddress(receiver.shown), secret: null, receiver };
    const body = eventBody(event);
    this.queues.add(this.deliveries.add(DEFAULT_WEBHOOK, event, target, body, Date.now()));
  }

  #addPush(
    { id, url, format, headers }: SecretPushConfig,
    event: WebhookEvent,
    change: JsonObject,
  ): void {
    const target = { url, secret: headers, push: { id, format } };
    const body = JSON.stringify(change);
    this.queues.add(this.deliveries.add(DEFAULT_WEBHOOK, event, target, body, Date.now()));
  }

  #forget(of: PushesOf): void {
    for (const seq of this.queues.clearPushes(of)) {
      this.deliveries.removePending({ webhook: DEFAULT_WEBHOOK, seq });
    }
  }

  #add(webhook: WebhookInfo, event: WebhookEvent): void {
    if (this.queues.size(webhook.id) >= MOST_PENDING) {
      return this.dispatcher.disable(webhook, `More than ${MOST_PENDING} deliveries were pending.`);
    }
    const target = { url: webhook.url, secret: null };
    const body = eventBody(event);
    this.queues.add(this.deliveries.add(webhook.id, event, target, body, Date.now()));
  }
}
