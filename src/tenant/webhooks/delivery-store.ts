import {
  DELIVERY_STATUSES,
  type DeliveryStatus,
  type WebhookEventType,
} from "../../contract/constants.ts";
import type { StoredReceiver } from "../../contract/notify.ts";
import type { WebhookAttempt, WebhookDelivery } from "../../contract/webhook.ts";
import type { TraceContext } from "../../core/steps/step-attempt.ts";
import { REDACTED } from "../../secrets/redacted-secrets.ts";
import { shownWebhookUrl } from "../../secrets/webhook-url.ts";
import type { Database } from "../../sqlite/database.ts";

export interface PushOfRun {
  id: string;
  format: string;
}

export interface ReceiverOfDelivery extends StoredReceiver {
  /** The owner of the list that names it: the team, or the run. */
  of: "team" | "run";
}

/** A delivery without its body. */
export interface DeliveryRecord {
  id: string;
  type: WebhookEventType;
  team_id: string;
  run_id: string;
  url: string;
  attempts: number;
  /** Attempts since the delivery was created or retried by hand. */
  tries: number;
  last_attempt: WebhookAttempt | null;
  /** Epoch milliseconds; meaningless unless pending. */
  next_at: number;
  created_at: string;
  /** For a run's own webhook its sealed secret, null for the tenant's. For a push notification its sealed headers. */
  secret: string | null;
  /** For a push notification: the config of its run, and the format in which its body, a RunChange, is sent. */
  push?: PushOfRun;
  /** The receiver of a message in a format of its own. */
  receiver?: ReceiverOfDelivery;
  /** The trace context of the request that started the run, if it had one. */
  trace?: TraceContext;
  /** Missing in deliveries of versions without it. */
  hops?: number;
}

export interface DeliveryKey {
  webhook: string;
  seq: number;
}

export interface StoredDelivery extends DeliveryKey {
  status: DeliveryStatus;
  record: DeliveryRecord;
}

interface Row extends Record<string, string | number> {
  status: DeliveryStatus;
  webhook: string;
  seq: number;
  record: string;
}

export const MICROSECONDS = 1_000;

/** The deliveries of all webhooks, by status. */
export class DeliveryStore {
  readonly #db: Database;
  #last = 0;
  /** Webhooks whose newest delivery is not after the last one. */
  readonly #behind = new Set<string>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** The pending deliveries of all webhooks, oldest first. */
  *pending(): Iterable<StoredDelivery> {
    const rows = this.#db.each<Row>(
      `select status, webhook, seq, record from webhook_delivery
         where status = 'pending' and (webhook, seq) > (?, ?) order by webhook, seq`,
      ["", 0],
      ({ webhook, seq }) => [webhook, seq],
    );
    for (const row of rows) yield parsed(row);
  }

  /** @param target the webhook of a run */
  add(
    webhook: string,
    event: Pick<DeliveryRecord, "type" | "team_id" | "run_id" | "trace" | "hops">,
    { url, secret, push, receiver }: Pick<DeliveryRecord, "url" | "secret" | "push" | "receiver">,
    body: string,
    now: number,
  ): StoredDelivery {
    const seq = this.#nextSeq(webhook, now);
    const record: DeliveryRecord = {
      id: deliveryId(seq),
      type: event.type,
      team_id: event.team_id,
      run_id: event.run_id,
      url,
      attempts: 0,
      tries: 0,
      last_attempt: null,
      next_at: now,
      created_at: new Date(now).toISOString(),
      secret,
      ...(push && { push }),
      ...(receiver && { receiver }),
      ...(event.trace && { trace: event.trace }),
      ...(event.hops !== undefined && { hops: event.hops }),
    };
    this.#db.write(
      "insert into webhook_delivery values ('pending', ?, ?, ?, ?)",
      webhook,
      seq,
      JSON.stringify(record),
      body,
    );
    return { webhook, seq, status: "pending", record };
  }

  /** The delivery with its body, while it is pending. */
  open({ webhook, seq }: DeliveryKey): (StoredDelivery & { body: string }) | undefined {
    const row = this.#db.first<Row & { body: string }>(
      "select status, webhook, seq, record, body from webhook_delivery where status = 'pending' and webhook = ? and seq = ?",
      webhook,
      seq,
    );
    return row && { ...parsed(row), body: row.body };
  }

  /** The delivery with this id, in any status. */
  find(webhook: string, id: string): StoredDelivery | undefined {
    const seq = seqOf(id);
    if (seq === undefined) return undefined;
    const found = this.#rows(webhook, DELIVERY_STATUSES, seq + 1, 1)[0];
    return found?.record.id === id ? found : undefined;
  }

  /** Newest first. @param before a seq */
  page(
    webhook: string,
    status: DeliveryStatus | undefined,
    before: number,
    limit: number,
  ): StoredDelivery[] {
    return this.#rows(webhook, status === undefined ? DELIVERY_STATUSES : [status], before, limit);
  }

  save(
    { webhook, seq, status: from }: StoredDelivery,
    to: DeliveryStatus,
    record: DeliveryRecord,
  ): void {
    this.#db.write(
      "update webhook_delivery set status = ?, record = ? where status = ? and webhook = ? and seq = ?",
      to,
      JSON.stringify(record),
      from,
      webhook,
      seq,
    );
  }

  /** Marks pending deliveries as given up. */
  failPending(webhook: string): void {
    this.#db.write(
      "update webhook_delivery set status = 'failed' where status = 'pending' and webhook = ?",
      webhook,
    );
  }

  /** Removes a pending delivery. */
  removePending({ webhook, seq }: DeliveryKey): void {
    this.#db.write(
      "delete from webhook_delivery where status = 'pending' and webhook = ? and seq = ?",
      webhook,
      seq,
    );
  }

  /** True if a delivery of a later event has arrived. */
  deliveredAfter({ webhook, seq }: DeliveryKey): boolean {
    return (
      this.#db.first(
        "select 1 as found from webhook_delivery where status = 'delivered' and webhook = ? and seq > ? limit 1",
        webhook,
        seq,
      ) !== undefined
    );
  }

  removeAll(webhook: string): void {
    for (const status of DELIVERY_STATUSES) {
      this.#db.write(
        "delete from webhook_delivery where status = ? and webhook = ?",
        status,
        webhook,
      );
    }
  }

  #rows(
    webhook: string,
    statuses: readonly DeliveryStatus[],
    before: number,
    limit: number,
  ): StoredDelivery[] {
    return statuses
      .flatMap((status) =>
        this.#db.all<Row>(
          "select status, webhook, seq, record from webhook_delivery where status = ? and webhook = ? and seq < ? order by seq desc limit ?",
          status,
          webhook,
          before,
          limit,
        ),
      )
      .toSorted((one, other) => other.seq - one.seq)
      .slice(0, limit)
      .map(parsed);
  }

  /** Makes a unique seq: a clock may go back, and events may come in the same microsecond. */
  #nextSeq(webhook: string, now: number): number {
    if (!this.#behind.has(webhook)) {
      const [newest] = this.#rows(webhook, DELIVERY_STATUSES, Number.MAX_SAFE_INTEGER, 1);
      this.#last = Math.max(this.#last, newest?.seq ?? 0);
      this.#behind.add(webhook);
    }
    this.#last = Math.max(now * MICROSECONDS, this.#last + 1);
    return this.#last;
  }
}

/** The address of a receiver as lists show it. */
export function receiverAddress({ kind, url = "", to }: StoredReceiver["shown"]): string {
  if (kind === "telegram") return `https://api.telegram.org/bot${REDACTED}/sendMessage`;
  return kind === "email" ? `mailto:${to}` : url;
}

/** A delivery as the API shows it. */
export function publicDelivery({ status, record }: StoredDelivery): WebhookDelivery {
  const {
    secret: _secret,
    tries: _tries,
    push: _push,
    receiver,
    trace: _trace,
    hops: _hops,
    next_at,
    ...rest
  } = record;
  return {
    ...rest,
    ...(receiver && { receiver: { id: receiver.shown.id, kind: receiver.shown.kind } }),
    // That of a receiver has no secrets.
    url: receiver ? rest.url : shownWebhookUrl(rest.url),
    status,
    next_attempt_at: status === "pending" ? new Date(next_at).toISOString() : null,
  };
}

function parsed({ status, webhook, seq, record }: Row): StoredDelivery {
  return { status, webhook, seq, record: JSON.parse(record) as DeliveryRecord };
}

/** Finds the row without an index; other tenants' deliveries of the same time must have other ids. */
function deliveryId(seq: number): string {
  return `msg_${seq.toString(36)}_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
}

function seqOf(id: string): number | undefined {
  const [, seq] = /^msg_([0-9a-z]{1,11})_/.exec(id) ?? [];
  return seq === undefined ? undefined : Number.parseInt(seq, 36);
}
