import type { ComponentModel } from "../../core/component/component-model.ts";
import { TroupeError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { cancelWork, type CancelledWork } from "../../core/steps/remote-work.ts";
import { within } from "../../core/wait.ts";
import type { LeftWork } from "../storage/outbox/remote-work-store.ts";
import type { Stores } from "../storage/stores.ts";
import type { AlarmSource, TeamAlarm } from "../storage/team-alarm.ts";

/** A service that does not answer within this time is asked again later. */
const PATIENCE_MS = 10_000;
/** The effect that has asked for the work gets its answer within this time, or not at all. */
const ASKED_MS = 6_000;
/** The pause before the next attempt is as long as the work has been left, within these limits. */
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Then the work is left alone. */
const GIVE_UP_MS = 86_400_000;
/** The same for work that its service does not know: the message that should begin it has been lost. */
const UNKNOWN_MS = 600_000;

export interface RemoteCancelsOptions {
  stores: Stores;
  alarm: TeamAlarm;
  /** Makes the agents of a component, with its secrets. */
  build: (component: ComponentModel) => Promise<Runnable>;
  log: Log;
}

/**
 * Cancels what runs have left at other services, and repeats that until these confirm it. The requests are made by the
 * agents that began the work, with the credentials that their component has.
 */
export class RemoteCancels implements AlarmSource {
  readonly #options: RemoteCancelsOptions;
  /** When the next attempt is due, epoch milliseconds; missing before the first one of this object. */
  readonly #nextAt = new WeakMap<LeftWork, number>();
  #delivering: Promise<void> | undefined;
  #closed = false;

  constructor(options: RemoteCancelsOptions) {
    const { stores, alarm } = options;
    this.#options = options;
    alarm.serve(this);
    stores.remoteWork.onLeft = () => this.#soon();
    if (stores.remoteWork.pending.length > 0) this.#soon();
  }

  get dueAt(): number | null {
    const { pending } = this.#options.stores.remoteWork;
    if (pending.length === 0) return null;
    // The first attempt follows at once: the alarm is for an object that ends before.
    return Math.min(
      ...pending.map((left) => Math.max(this.#dueAt(left), left.since + FIRST_PAUSE_MS)),
    );
  }

  /** Makes the attempts that are due. Never rejects; the alarm makes the next ones. */
  async deliver(): Promise<void> {
    this.#delivering ??= this.#deliver().finally(() => {
      this.#delivering = undefined;
      if (!this.#closed) this.#options.alarm.set();
    });
    await this.#delivering;
  }

  /** The team is erased with its credentials: one last attempt for each. */
  async close(): Promise<void> {
    this.#closed = true;
    const { remoteWork } = this.#options.stores;
    const attempts = Promise.all(remoteWork.pending.map((left) => this.#attempt(left)));
    await within(PATIENCE_MS, attempts).catch(() => undefined);
    remoteWork.close();
  }

  /** After the transaction that leaves the work. */
  #soon(): void {
    setTimeout(() => {
      if (this.#closed) return;
      this.#options.alarm.set();
      void this.deliver();
    }, 0);
  }

  async #deliver(): Promise<void> {
    const { remoteWork } = this.#options.stores;
    while (!this.#closed) {
      const now = Date.now();
      const due = remoteWork.pending.filter((left) => this.#dueAt(left) <= now);
      if (due.length === 0) return;
      for (const left of due) {
        const pause = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, now - left.since));
        this.#nextAt.set(left, now + pause);
      }
      await Promise.all(due.map((left) => this.#attempt(left)));
    }
  }

  #dueAt(left: LeftWork): number {
    return this.#nextAt.get(left) ?? left.since + (left.work.state === "asked" ? ASKED_MS : 0);
  }

  async #attempt(left: LeftWork): Promise<void> {
    const { stores, log } = this.#options;
    const { work, since } = left;
    let code: string;
    try {
      const state = await this.#cancel(left);
      if (state === "over") return this.#end(left);
      if (state === "unknown" && Date.now() - since > UNKNOWN_MS) return this.#end(left);
      code = state;
    } catch (error) {
      code = error instanceof TroupeError ? error.code : "internal";
    }
    if (Date.now() - since < GIVE_UP_MS) return;
    this.#end(left);
    log({ event: "remote_work_left", team: stores.team.record.id, work: work.id, code });
  }

  async #cancel({ work, turn }: LeftWork): Promise<CancelledWork> {
    const { stores, build } = this.#options;
    // The component at the last commit before the turn. A version that has run is kept.
    const team = await build(stores.versions.at(turn - 1) ?? stores.team.component);
    try {
      return (await cancelWork(team, work, AbortSignal.timeout(PATIENCE_MS))) ?? "over";
    } finally {
      await team.close();
    }
  }

  #end(left: LeftWork): void {
    const { stores } = this.#options;
    stores.db.transaction(() => stores.remoteWork.remove(left));
  }
}
