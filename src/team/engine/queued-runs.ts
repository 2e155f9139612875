import type { ChatMessage } from "../../core/messages/message.ts";
import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";
import type { Stores } from "../storage/stores.ts";
import type { RunTelemetry } from "./views/run-telemetry.ts";
import { presentOf, type StartingRun, taskMessages } from "./new-run.ts";
import { cancelledInQueue, started } from "./run-state.ts";
import { runInfo } from "./views/run-info.ts";
import { showSent } from "./journal/turn-steering.ts";
import type { RunFeed } from "./views/run-feed.ts";

/**
 * The runs that wait for the active one to end. Each change is synchronous and writes everything in one go, so a crash
 * finds it either done or not started.
 */
export class QueuedRuns {
  readonly #stores: Stores;
  readonly #feed: RunFeed;
  readonly #telemetry: RunTelemetry | undefined;

  constructor(stores: Stores, feed: RunFeed, telemetry: RunTelemetry | undefined) {
    this.#stores = stores;
    this.#feed = feed;
    this.#telemetry = telemetry;
  }

  has(id: string): boolean {
    return this.#stores.queue.position(id) !== null;
  }

  /** Makes a run known that was just added. */
  added(record: RunRecord, task: readonly ChatMessage[] | null): void {
    this.#feed.queued(runInfo(this.#stores, { seq: 0, record }, task));
    this.#telemetry?.queued(this.#stores.queue.size);
  }

  /** Gives a queued run another task. False when there is no such run in the queue. */
  change(id: string, task: StartRunInput["task"]): boolean {
    const { announcer, queue, runs } = this.#stores;
    const found = runs.byId(id);
    if (found?.record.status !== "queued") return false;
    const { record } = found;
    const messages = taskMessages(task, id, record.created_at);
    this.#stores.db.transaction(() => {
      queue.replaceTask(id, messages);
      announcer.run(found, { task: messages });
    });
    this.#feed.queued(runInfo(this.#stores, found, messages));
    return true;
  }

  /** Cancels a queued run; undefined when there is no such run. @param mode how the client stops it */
  cancel(id: string, mode: "after_turn" | "now"): RunRecord | undefined {
    const { announcer, commits, queue, runs, log, steering } = this.#stores;
    const found = runs.byId(id);
    if (found?.record.status !== "queued") return undefined;
    const turn = commits.turn;
    const unread = steering.all.filter(({ run }) => run === id);
    const event = log.last + unread.length;
    const facts = { mode, turn, event, at: new Date().toISOString() };
    const record = cancelledInQueue(found.record, facts);
    const task = runs.task(found);
    const { sent, terminal } = this.#stores.db.transaction(() => {
      const body = JSON.stringify(runInfo(this.#stores, { seq: 0, record }, task));
      queue.cancel(record, runs.last()?.seq ?? 0);
      announcer.run({ seq: 0, record }, { task });
      const events = unread.map((one) => showSent(this.#stores, { run: 0, turn: turn + 1 }, one));
      return { sent: events, terminal: log.append(0, turn, "cancelled", null, body) };
    });
    for (const one of sent) this.#feed.sentIn(one);
    this.#feed.dequeued(id, terminal);
    this.#telemetry?.ended(record);
    return record;
  }

  cancelAll(): void {
    const { queue } = this.#stores;
    for (let next = queue.first; next; next = queue.first) this.cancel(next.id, "now");
  }

  /** Takes the next run out of the queue and stores its start. */
  take(): StartingRun | undefined {
    const { queue, runs, steps } = this.#stores;
    const { first } = queue;
    if (first === undefined) return undefined;
    const task = runs.task({ seq: 0, record: first });
    const stored = this.#stores.db.transaction(() => {
      steps.clear();
      queue.remove(first.id);
      const facts = { at: new Date().toISOString(), ...presentOf(this.#stores) };
      return runs.insert(started(first, facts), task);
    });
    this.#feed.begins(first.id);
    return { stored, task };
  }
}
