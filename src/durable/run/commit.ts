import type { Moment } from "../../core/run/turn-host.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import type { LoadedTeam } from "./team-cache.ts";
import { type Outcome, writeOutcome } from "./run-outcome.ts";
import type { Commit } from "../storage/commits.ts";
import type { Stores } from "../storage/stores.ts";

export interface EndOfTurn {
  /** How the run ends with it, if it does. */
  outcome: Outcome | undefined;
  /** The run's next turn. */
  next: number;
  time: Moment;
}

/** What a commit wrote: where the team stands, what the turn did not say again, and the run's last event. */
export interface Committed {
  commit: Commit;
  retract: RecordedEvent | undefined;
  terminal: RecordedEvent | undefined;
}

/** Stores what the team has become by its turn, all or nothing. */
export function commitTurn(
  stores: Stores,
  active: ActiveRun,
  open: LoadedTeam,
  { outcome, next, time }: EndOfTurn,
): Committed {
  const { log, steps, questions } = stores;
  const committed = stores.transaction(() => {
    const retract = active.events.retractOutstanding();
    steps.clear();
    // Nobody waits for an answer any more, but a branch may have asked that was halted then.
    questions.closeOpen(active.record.id);
    const { usage, turn, since } = active;
    active.record.ran = time.ran;
    const terminal =
      outcome &&
      writeOutcome(stores, active, outcome, {
        next,
        turn: turn + 1,
        started: time,
        event: log.last,
      });
    const commit = {
      turn,
      run: active.stored.seq,
      next,
      time,
      usage,
      event: log.last,
      since,
      empty: false,
    };
    open.state.write(commit);
    return { commit, retract, terminal };
  });
  open.state.committed();
  return committed;
}
