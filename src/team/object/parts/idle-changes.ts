import { ok, refuseInput, type Result, teamBusy } from "../../../contract/result.ts";
import { InMemoryHost } from "../../../core/run/in-memory-host.ts";
import type { Runnable } from "../../../core/run/runnable.ts";
import { TurnScope } from "../../../core/turn/turn-scope.ts";
import type { RunEngine } from "../../engine/run-engine.ts";
import {
  type BuildReadable,
  type LoadedTeam,
  loadTeam,
  type TeamCache,
} from "../../engine/team-cache.ts";
import { standsAtCancellation } from "../../storage/log/commits.ts";
import type { Stores } from "../../storage/stores.ts";

export interface IdleChangesOptions {
  stores: Stores;
  engine: RunEngine;
  cache: TeamCache;
  buildReadable: BuildReadable;
}

/** Changes of a team outside of any run: of its state or of its component. */
export class IdleChanges {
  readonly #stores: Stores;
  readonly #engine: RunEngine;
  readonly #cache: TeamCache;
  readonly #buildReadable: BuildReadable;

  constructor({ stores, engine, cache, buildReadable }: IdleChangesOptions) {
    this.#stores = stores;
    this.#engine = engine;
    this.#cache = cache;
    this.#buildReadable = buildReadable;
  }

  /** Prepares a change (may await) and applies it (must not await), unless a run is active or queued. */
  async whileIdle<T>(prepare: () => Promise<() => T>): Promise<Result<T>> {
    const { occupant } = this.#engine;
    if (occupant) return teamBusy(occupant.id);
    try {
      const change = await prepare();
      return ok(change());
    } catch (error) {
      return refuseInput(error);
    }
  }

  /** Stores a turn without a run. @param more further changes of its transaction */
  store(
    open: LoadedTeam,
    conversation: "same" | "none" | "loaded",
    more: (turn: number) => void,
  ): void {
    const { board, commits, db, log, steering } = this.#stores;
    const { last } = commits;
    const turn = (last?.turn ?? 0) + 1;
    const same = conversation === "same";
    const since = same ? (last?.since ?? 0) : log.last;
    const empty = same ? (last?.empty ?? true) : conversation === "none";
    const cancelled = same && standsAtCancellation(this.#stores);
    // Messages into runs that have failed or were cancelled. They stay what the next run, or a retry, reads first; the commit
    // ends before them, because its state does not have them.
    const sent = steering.all;
    const waits = same && sent.length > 0;
    db.transaction(() => {
      more(turn);
      if (!waits) steering.remove(sent);
      if (!same) board.clear();
      open.state.write({
        turn,
        run: 0,
        next: 0,
        time: { at: Date.now(), ran: 0 },
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        event: waits ? (last?.event ?? 0) : log.last,
        since,
        empty,
        ...(cancelled && { cancelled }),
      });
    });
    open.state.committed();
    // The stored state is that of the cancelled run; the next use loads it again.
    if (cancelled) this.#cache.drop();
    else this.#cache.replace(open);
  }

  /** A second instance at the last commit: the one in memory may be in the middle of a turn. */
  fresh(state?: "committed"): Promise<LoadedTeam> {
    return loadTeam(this.#stores, this.#buildReadable, state);
  }
}

/** Resets a team outside of any run. */
export function resetAlone(runnable: Runnable): Promise<void> {
  return runnable.reset(TurnScope.root(new InMemoryHost({}).turn(0)));
}
