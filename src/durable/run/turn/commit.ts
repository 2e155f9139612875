import type { Moment } from "../../../core/run/turn-host.ts";
import type { ActiveRun } from "../active-run.ts";
import type { RecordedEvent } from "../../storage/event-log.ts";
import type { LoadedTeam } from "../team-cache.ts";
import { type Outcome, writeOutcome } from "../run-outcome.ts";
import { storeSpans } from "../../../telemetry/stored-spans.ts";
import type { Commit } from "../../storage/commits.ts";
import type { Stores } from "../../storage/stores.ts";

export interface EndOfTurn {
  /** The run's outcome if it ends with this turn. */
  outcome: Outcome | undefined;
  /** The run's next turn. */
  next: number;
  time: Moment;
}

/** What a commit wrote: the team's progress, the retraction of messages not emitted again, the run's terminal event. */
export interface Committed {
  commit: Commit;
  retract: RecordedEvent | undefined;
  terminal: RecordedEvent | undefined;
}

/** Stores the turn: the team's state, the run's progress and, with its last turn, the outcome. All or nothing. */
export function commitTurn(
  stores: Stores,
  active: ActiveRun,
  open: LoadedTeam,
  { outcome, next, time }: EndOfTurn,
): Committed {
  const { log, steps, questions } = stores;
  // The steps go with the commit; should it fail, a retry needs them.
  const putBack = steps.withdraw();
  const committed = stores.transaction(() => {
    const retract = active.events.retractOutstanding();
    const spans = storeSpans(active.spans(time.at), active.turnStarted.at);
    // A branch may have asked before a failing sibling halted it.
    questions.closeOpen(active.record.id);
    stores.announcer.messages(active.record, active.turnCursor);
    const { turnOfTeam, conversationCursor } = active;
    const { usage, models } = active.usage;
    active.record.ran = time.ran;
    const terminal =
      outcome &&
      writeOutcome(stores, active, outcome, {
        turnOfRun: next,
        turnOfTeam: turnOfTeam + 1,
        turnStarted: time,
      });
    const commit: Commit = {
      turn: turnOfTeam,
      run: active.stored.seq,
      next,
      time,
      usage,
      models,
      ...(spans && { spans }),
      event: log.last,
      since: conversationCursor,
      empty: false,
    };
    // After the outcome, which counts their model calls.
    steps.clear();
    open.state.write(commit);
    return { commit, retract, terminal };
  }, putBack);
  open.state.committed();
  return committed;
}
