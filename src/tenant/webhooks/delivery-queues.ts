import { DEFAULT_WEBHOOK } from "../../contract/constants.ts";
import type {
  DeliveryKey,
  DeliveryRecord,
  ReceiverOfDelivery,
  StoredDelivery,
} from "./delivery-store.ts";

/**
 * Concurrent requests. The platform delays more than six of one object's, and a delayed request would look like a
 * receiver that does not answer.
 */
const MOST_REQUESTS = 6;

/** Concurrent requests per webhook, so that a receiver that does not answer leaves some for the others. */
const MOST_REQUESTS_OF_WEBHOOK = 3;

/** When the alarm checks deliveries that are due or in flight: the object may have been restarted in the meantime. */
const WATCH_MS = 15_000;

interface Item {
  seq: number;
  /** Epoch milliseconds. */
  nextAt: number;
}

/** The pending deliveries of a team to a webhook, oldest first: the next one waits for the one before. */
interface Queue {
  name: string;
  webhook: string;
  items: Item[];
  busy: boolean;
}

/** The pending deliveries in memory, without their bodies. */
export class DeliveryQueues {
  readonly #queues = new Map<string, Queue>();
  /** Requests in flight, by webhook. */
  readonly #requests = new Map<string, number>();

  add({ webhook, seq, record }: StoredDelivery): void {
    const name = queueName(webhook, record);
    const queue = this.#queues.get(name) ?? { name, webhook, items: [], busy: false };
    this.#queues.set(name, queue);
    const item = { seq, nextAt: record.next_at };
    const last = queue.items.at(-1);
    if (last === undefined || last.seq < seq) {
      queue.items.push(item);
    } else {
      // The delivery is being retried.
      queue.items = [...queue.items.filter((one) => one.seq !== seq), item].toSorted(
        (one, other) => one.seq - other.seq,
      );
    }
  }

  /** The number of pending deliveries for a receiver. */
  sizeOf(queue: ReceiverQueue): number {
    return this.#queues.get(receiverQueue(queue))?.items.length ?? 0;
  }

  /** The number of pending deliveries. */
  size(webhook: string): number {
    return this.#of(webhook).reduce((sum, { items }) => sum + items.length, 0);
  }

  /** Takes a delivery to attempt now; it stays taken until it is released. Webhooks with few requests come first. */
  take(now: number): (DeliveryKey & { queue: string }) | undefined {
    const requests = (webhook: string): number => this.#requests.get(webhook) ?? 0;
    const total = [...this.#requests.values()].reduce((sum, count) => sum + count, 0);
    if (total >= MOST_REQUESTS) return undefined;
    let next: Queue | undefined;
    for (const queue of this.#queues.values()) {
      const [head] = queue.items;
      if (queue.busy || head === undefined || head.nextAt > now) continue;
      if (requests(queue.webhook) >= MOST_REQUESTS_OF_WEBHOOK) continue;
      const first = next?.items[0];
      const difference = next === undefined ? -1 : requests(queue.webhook) - requests(next.webhook);
      if (difference < 0 || (difference === 0 && head.nextAt < (first?.nextAt ?? 0))) next = queue;
    }
    const head = next?.items[0];
    if (next === undefined || head === undefined) return undefined;
    next.busy = true;
    this.#requests.set(next.webhook, requests(next.webhook) + 1);
    return { webhook: next.webhook, seq: head.seq, queue: next.name };
  }

  /** Releases a delivery whose attempt has ended. */
  release({ queue: name, webhook }: { queue: string; webhook: string }): void {
    const requests = (this.#requests.get(webhook) ?? 1) - 1;
    if (requests === 0) this.#requests.delete(webhook);
    else this.#requests.set(webhook, requests);
    const queue = this.#queues.get(name);
    if (queue === undefined) return;
    queue.busy = false;
    if (queue.items.length === 0) this.#queues.delete(name);
  }

  /** The time of the next attempt. */
  postpone(name: string, seq: number, nextAt: number): void {
    const item = this.#queues.get(name)?.items.find((one) => one.seq === seq);
    if (item !== undefined) item.nextAt = nextAt;
  }

  remove(name: string, seq: number): void {
    const queue = this.#queues.get(name);
    if (queue === undefined) return;
    queue.items = queue.items.filter((item) => item.seq !== seq);
    if (queue.items.length === 0 && !queue.busy) this.#queues.delete(name);
  }

  /** Drops the pending deliveries of a webhook, or of one queue. Returns the seqs that were dropped. */
  clear(webhook: string, name?: string): number[] {
    const queues = this.#of(webhook).filter((queue) => name === undefined || queue.name === name);
    const seqs = queues.flatMap(({ items }) => items.map(({ seq }) => seq));
    for (const queue of queues) {
      queue.items = [];
      if (!queue.busy) this.#queues.delete(queue.name);
    }
    return seqs;
  }

  /** Drops pending deliveries for push notification configs. Returns the seqs that were dropped. */
  clearPushes(of: PushesOf): number[] {
    const prefix = pushQueue(of);
    const isOneConfig = of.push !== undefined;
    return this.#of(DEFAULT_WEBHOOK)
      .filter(({ name }) => (isOneConfig ? name === prefix : name.startsWith(prefix)))
      .flatMap(({ name }) => this.clear(DEFAULT_WEBHOOK, name));
  }

  /** When the object has to be in memory, epoch milliseconds. */
  alarmAt(now: number): number | null {
    let at: number | null = null;
    for (const { items, busy } of this.#queues.values()) {
      const [head] = items;
      if (head === undefined) continue;
      const due = busy || head.nextAt <= now ? now + WATCH_MS : head.nextAt;
      at = Math.min(at ?? due, due);
    }
    return at;
  }

  #of(webhook: string): Queue[] {
    return [...this.#queues.values()].filter((queue) => queue.webhook === webhook);
  }
}

/** The push notification configs of a team, or one of them. */
export interface PushesOf {
  team: string;
  /** The run and the id of its config. */
  push?: readonly [run: string, id: string];
}

function pushQueue({ team, push }: PushesOf): string {
  return [`${DEFAULT_WEBHOOK}:push`, team, ...(push ?? [""])].join("/");
}

/** A receiver of a team, or of one of its runs. */
type ReceiverQueue = Pick<DeliveryRecord, "team_id" | "run_id"> & { receiver: ReceiverOfDelivery };

export function receiverQueue({ team_id, run_id, receiver }: ReceiverQueue): string {
  const run = receiver.of === "run" ? run_id : "";
  return [`${DEFAULT_WEBHOOK}:notify`, team_id, run, receiver.shown.id].join("/");
}

/** Deliveries of a run's own webhook, receiver or push notification config wait only for each other. */
function queueName(
  webhook: string,
  {
    team_id,
    run_id,
    push,
    receiver,
  }: Pick<DeliveryRecord, "team_id" | "run_id" | "push" | "receiver">,
): string {
  if (receiver !== undefined) {
    return receiverQueue({ team_id, run_id, receiver });
  }
  if (push !== undefined) return pushQueue({ team: team_id, push: [run_id, push.id] });
  return webhook === DEFAULT_WEBHOOK ? `${webhook}/${team_id}/${run_id}` : `${webhook}/${team_id}`;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Waits between attempts, milliseconds: together three days. */
const WAITS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  20.5 * HOUR,
];

/** A wait varies by up to this fraction of it. */
const JITTER = 0.1;

/** The longest wait that a receiver can ask for. */
const LONGEST_WAIT = 24 * HOUR;

/**
 * Milliseconds until the next attempt; null to give the delivery up.
 *
 * @param attempts made so far, at least 1
 * @param asked milliseconds that the receiver asked to wait; it can only lengthen the wait
 * @param random from 0 to 1
 */
export function nextWait(attempts: number, asked: number | null, random: number): number | null {
  const wait = WAITS[attempts - 1];
  if (wait === undefined) return null;
  const spread = wait * (1 + JITTER * (2 * random - 1));
  return Math.round(Math.max(spread, Math.min(asked ?? 0, LONGEST_WAIT)));
}
