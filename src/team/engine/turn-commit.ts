import type { UnfinishedAt } from "../../core/run/run-observer.ts";
import type { TurnEvents } from "./journal/turn-events.ts";
import type { TurnMemory } from "./journal/turn-memory.ts";
import type { NestedLedgers } from "../../contract/turn.ts";
import { remoteWorkIn } from "../../core/steps/remote-work.ts";
import type { RecordedEvent } from "../storage/log/event-log.ts";
import type { Moment } from "../../core/turn/turn-host.ts";
import type { ActiveRun } from "./active-run.ts";
import type { LoadedTeam } from "./team-cache.ts";
import { type Outcome, writeOutcome } from "./run-outcome.ts";
import { storeSpans, type TurnSpans } from "../../telemetry/spans/stored-spans.ts";
import type { Commit } from "../storage/log/commits.ts";
import { keepSteps } from "../storage/log/kept-steps.ts";
import type { SentIn } from "../storage/runs/steering-store.ts";
import type { Stores } from "../storage/stores.ts";

export interface EndOfTurn {
  /** The run's outcome if it ends with this turn. */
  outcome: Outcome | undefined;
  /** The run's next turn. */
  next: number;
  time: Moment;
  /** The memories that the turn has written. */
  memory: TurnMemory | undefined;
  /** Its events. */
  events: TurnEvents;
  /** The ledgers of teams inside participants; undefined where none has any. */
  nested: readonly NestedLedgers[] | undefined;
  /** The messages into the run that the team's state has now. */
  sent: readonly SentIn[];
  /** Work that is left to do after the run. */
  unfinished: readonly UnfinishedAt[];
}

/** The writes of a commit: the team's progress, the retraction of messages not emitted again, the run's terminal event. */
export interface Committed {
  commit: Commit;
  spans: TurnSpans;
  retract: RecordedEvent | undefined;
  terminal: RecordedEvent | undefined;
}

/** Stores the turn: the team's state, the run's progress and, with its last turn, the outcome. All or nothing. */
export function commitTurn(
  stores: Stores,
  active: ActiveRun,
  open: LoadedTeam,
  { outcome, next, time, events, memory, nested, sent, unfinished }: EndOfTurn,
): Committed {
  const { log, steps, questions, knownResults: known } = stores;
  // The steps go with the commit; should it fail, a retry needs them.
  const { ended, putBack } = steps.withdraw();
  const { record: before } = active;
  const remember = memory?.prepare();
  const committed = stores.db.transaction(
    () => {
      const retract = events.retractOutstanding();
      const traced = active.spans(time.at);
      const spans = storeSpans(traced, active.turnStarted.at);
      // A branch may have asked before a failing sibling halted it.
      questions.closeOpen(active.record.id);
      stores.steering.remove(sent);
      stores.announcer.messages(active.record, active.turnCursor);
      const { turnOfTeam, conversationCursor } = active;
      const { usage, models } = active.usage;
      if (outcome?.status === "completed") {
        const { record, turnStarted } = active;
        const of = { run: record.id, turn_started: turnStarted };
        const dropped = stores.unfinished.add(unfinished, of);
        for (const { note: message } of dropped) active.note({ agent: null, message });
      }
      const terminal =
        outcome &&
        writeOutcome(stores, active, outcome, {
          turnOfRun: next,
          turnOfTeam: turnOfTeam + 1,
          turnStarted: time,
          usage: { usage, models },
          ran: time.ran,
        });
      const commit: Commit = {
        turn: turnOfTeam,
        run: active.stored.seq,
        next,
        time,
        usage,
        models,
        ...(spans && { spans }),
        ...(nested && nested.length > 0 && { nested }),
        event: log.last,
        since: conversationCursor,
        empty: false,
      };
      remember?.();
      stores.board.removeUpTo(open.board?.readUpTo ?? 0);
      // A turn such as the one that relays the task has no steps.
      if (ended.length === 0) open.state.write(commit);
      else {
        // An agent may have given up its work, and a run that is stopped while it waits leaves what it waits for.
        stores.remoteWork.leave(remoteWorkIn(ended), turnOfTeam);
        // After the outcome, which counts their model calls.
        steps.clear();
        open.state.write(commit, (inLogs) =>
          keepSteps(ended, log.references, { turn: turnOfTeam, inLogs, known }),
        );
      }
      return { commit, spans: traced, retract, terminal };
    },
    () => {
      putBack();
      active.become(before);
    },
  );
  open.state.committed();
  return committed;
}
