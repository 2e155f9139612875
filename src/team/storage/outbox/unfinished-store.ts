import type { UnfinishedAt } from "../../../core/run/run-observer.ts";
import { lateRetryDelay } from "../../../core/steps/retry.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import { type MetaKey, type MetaStore, objectKey } from "../tables/meta-store.ts";

/** The unfinished work of an observer after a run. */
export interface LeftEnd extends UnfinishedAt {
  run: string;
  /** When the run's last turn began: what is erased later does not come back. */
  turn_started: Moment;
  /** Attempts that have failed, the run's own included. */
  attempts: number;
  /** When the first attempt failed, and when the next one is due; epoch milliseconds. */
  since: number;
  next_at: number;
  /** Why the last attempt did not reach the observer, in addition to its note. */
  error?: string;
}

/** Begins the name of each value in `meta`. */
const PREFIX = "unfinished:";

/** The most that a team keeps: each may hold the conversation of its run. */
const MOST_LEFT = 100;

export class UnfinishedStore {
  readonly #meta: MetaStore;
  #left: readonly LeftEnd[] | undefined;
  /** Called inside the transaction that leaves something. */
  onLeft: () => void = () => undefined;

  constructor(meta: MetaStore) {
    this.#meta = meta;
  }

  get pending(): readonly LeftEnd[] {
    return (this.#left ??= this.#meta
      .names(PREFIX)
      .flatMap((name) => this.#meta.read(keyNamed(PREFIX + name)) ?? [])
      .toSorted((one, other) => one.since - other.since));
  }

  /**
   * Must be called inside the transaction that ends the run.
   *
   * @returns what is not kept, because too much is left already
   */
  add(
    unfinished: readonly UnfinishedAt[],
    of: Pick<LeftEnd, "run" | "turn_started">,
  ): readonly UnfinishedAt[] {
    if (unfinished.length === 0) return [];
    const since = Date.now();
    const room = Math.max(0, MOST_LEFT - this.pending.length);
    const added = unfinished.slice(0, room).map((left) => {
      const first = { ...left, ...of, attempts: 0, since, next_at: since };
      return nextAttempt(first, since) ?? first;
    });
    for (const left of added) this.#meta.write(keyOf(left), left);
    this.#left = [...this.pending, ...added];
    this.onLeft();
    return unfinished.slice(room);
  }

  /** @param by what is left of it; undefined for nothing */
  replace(one: LeftEnd, by?: LeftEnd): void {
    const { pending } = this;
    if (!pending.includes(one)) return;
    if (by === undefined) this.#meta.remove(keyOf(one));
    else this.#meta.write(keyOf(one), by);
    this.#left = pending.flatMap((left) => (left === one ? (by ?? []) : left));
  }

  drop(run: string): void {
    for (const left of this.pending) if (left.run === run) this.replace(left);
  }

  /** Drops the copy in memory after a failed transaction. */
  forget(): void {
    this.#left = undefined;
  }
}

function keyOf({ run, path }: Pick<LeftEnd, "run" | "path">): MetaKey<LeftEnd> {
  return keyNamed(`${PREFIX}${run}${path}`);
}

function keyNamed(name: string): MetaKey<LeftEnd> {
  return objectKey(name, ["run", "path", "todo", "attempts", "since", "next_at"]);
}

/** As it is after a failed attempt; undefined when there is no other. */
export function nextAttempt(left: LeftEnd, now: number): LeftEnd | undefined {
  const attempts = left.attempts + 1;
  const delay = lateRetryDelay({ attempt: attempts, failingMs: now - left.since });
  return delay === undefined ? undefined : { ...left, attempts, next_at: now + delay };
}
