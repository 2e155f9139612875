import { TroupeError } from "../../core/errors.ts";
import { announceEnd } from "../../core/run/run-observer.ts";
import type { Progress } from "../../core/run/runnable.ts";
import { isTurnSignal } from "../../core/steps/signals.ts";
import { TurnScope } from "../../core/turn/turn-scope.ts";
import type { ActiveRun } from "./active-run.ts";
import type { Execution } from "./execution.ts";
import type { JournalParts } from "./journal/journal-parts.ts";
import type { RunConstants } from "./journal/journaled-run.ts";
import { TurnJournal } from "./journal/turn-journal.ts";
import { showSent } from "./journal/turn-steering.ts";
import { usageLimitError } from "./journal/usage-limit.ts";
import type { TurnState } from "./next-action.ts";
import type { Outcome, RunEnd } from "./run-outcome.ts";
import type { SentIn } from "../storage/runs/steering-store.ts";
import type { Suspect } from "./suspect.ts";
import type { LoadedTeam, TeamCache } from "./team-cache.ts";
import { commitTurn, type EndOfTurn } from "./turn-commit.ts";
import { frameOfTurn } from "./views/turn-report.ts";

// A turn runs in memory and can be lost at any point. What must hold so that no client and no log shows it:
//
// T1 A turn is a function of the last commit and the recorded steps.
//    `open` gives the team as the last commit left it, and `play` runs agents on a host that answers from the table of steps.
// T2 A step's result is stored before the next effect of its scope begins.
//    `TurnJournal.ended` hands it to the database, and `stepStarted` flushes what waits there before the effect.
// T3 A step of the policy `never` or `ask` is stored before its effect.
//    `TurnJournal.stepStarted` inserts its row, so a process that dies in the effect leaves the fact that it may have happened.
// T4 Keys and ids depend on run, turn, scope and counter only.
//    `TurnScope` makes them from `turnId`: no clock and no random number takes part, so a repeated turn makes the same.
// T5 One transaction ends a turn: messages, context entries, heads, outbox, outcome; its steps go, or, where the run records
//    them, become part of its record. Events are in the log before, as they were emitted; a turn that is given up retracts them.
//    `commitTurn` is that transaction, `giveUp` the one of a turn that has no commit.
// T6 Nothing with an id leaves the object before what it rests on is stored; pieces of a text in progress may.
//    A message is in the log before the feed gets it, and the feed flushes delayed writes before it sends bytes.
// T7 A superseded execution writes nothing.
//    Each `await` is followed by a look at the fence, here and in the journal.
// T8 The alarm is set before anything that must continue.
//    `RunEngine` sets it when a run begins and whenever its status changes, in the same go as the writes.
//
// docs/design/kills.md has a row for each place at which the process can die: what is on disk, and what the next load does.

/** The parts that a turn runs with, besides its run. */
export interface TurnParts extends JournalParts {
  team: TeamCache;
  run: TurnsOfRun;
}

/** The changes of a run's status that a turn makes. Each is synchronous. */
export interface TurnsOfRun {
  /** Ends the run now and gives up its turn. @param repeat recorded steps that a retry runs again */
  end(outcome: Outcome, repeat?: readonly string[]): void;
  /** The commit of the run's last turn has written its outcome. */
  ended(active: ActiveRun, end: RunEnd): void;
}

/** The run that a turn belongs to, and the execution that runs it. */
export interface TurnOf {
  active: ActiveRun;
  execution: Execution;
  facts: RunConstants;
  /** Set while the run may be the cause of its interruptions. */
  suspect: Suspect | undefined;
}

/** Runs the turn in progress from its beginning and commits it, unless it ends early. Returns the state of the turn after it. */
export async function runTurn(parts: TurnParts, of: TurnOf): Promise<TurnState> {
  const { active, execution, facts, suspect } = of;
  const team = await openTeam(parts, execution);
  if (team === undefined) return "interrupted";
  execution.answered = false;
  const fail = (error: unknown): void => parts.run.end({ status: "failed", error });
  const journal = new TurnJournal(parts, { active, facts, fence: execution, suspect, fail });
  active.steering = journal.steering;
  try {
    const played = await play(parts, of, team, journal);
    if (played === undefined) return "interrupted";
    const { progress, ...emitted } = played;
    const { usedMemory: memory, nested, steering } = journal;
    const outcome = outcomeOfTurn(active, progress);
    const next = active.turnOfRun + 1;
    const end = { outcome, next, memory, nested: nested?.entries, read: steering.taken };
    finishTurn(parts, of, team, { ...end, ...emitted });
    return "none";
  } catch (thrown) {
    if (execution.superseded) return "interrupted";
    if (!isTurnSignal(thrown)) return giveUp(thrown);
    // Agents may keep in memory what no state describes: the next turn gets a new team at the last commit.
    parts.team.drop();
    active.restartEvents();
    if (thrown.kind === "suspend") return "suspended";
    if (thrown.kind === "pause") return "none";
    const message = `a turn ended with the signal "${thrown.kind}"`;
    return giveUp(new TroupeError("internal", message, { cause: thrown }));
  } finally {
    active.leaveTurn();
  }

  function giveUp(error: unknown): TurnState {
    const { step, attempts, repeat } = journal.failure(error);
    parts.run.end({ status: "failed", error, step, attempts }, repeat);
    return "interrupted";
  }
}

/** The team at its last commit; undefined when the execution was superseded in the meantime. */
export async function openTeam(
  { team }: Pick<TurnParts, "team">,
  execution: Execution,
): Promise<LoadedTeam | undefined> {
  const open = await team.open();
  return execution.superseded ? undefined : open;
}

/** The progress of a turn, its events, and the work that it leaves to do after the run. */
interface Played extends Pick<EndOfTurn, "events" | "unfinished"> {
  progress: Progress;
}

/**
 * Plays the turn: steps that are recorded return without running. Messages are written to the log before clients get them.
 * Returns undefined when the execution was superseded.
 *
 * @throws TurnSignal when the turn ends early
 */
async function play(
  { live }: TurnParts,
  { active, execution }: TurnOf,
  { runnable, observers, shared, board }: LoadedTeam,
  journal: TurnJournal,
): Promise<Played | undefined> {
  const { events } = active;
  const ctx = TurnScope.root(journal);
  const isFirst = active.turnOfRun === 0;
  shared?.beginTurn(isFirst ? active.record.state : undefined);
  board?.beginTurn();
  if (isFirst) for (const observer of observers.values()) observer.runBegins();
  const turn = isFirst
    ? runnable.begin({ messages: active.task, outputTaskMessages: true }, ctx)
    : runnable.turn(ctx);
  for (;;) {
    const next = await turn.next();
    if (execution.superseded) {
      // Lets agents and tools release what they hold; not awaited, because they may take any time.
      void turn.return({ done: true, stopReason: null }).catch(() => undefined);
      return undefined;
    }
    if (next.done) {
      const progress = next.value;
      active.close();
      const unfinished = progress.done ? await announceEnd(observers, ctx) : [];
      await journal.usedMemory?.ready();
      return execution.superseded ? undefined : { progress, events, unfinished };
    }
    const message = next.value;
    if (message.type === "ModelClientStreamingChunkEvent") {
      live.chunk(message);
      continue;
    }
    const event = events.emit(message, live.endText(message));
    // One that was recorded before a restart was sent then.
    if (event !== undefined && event.kind !== "quiet") live.event(event);
  }
}

/** The run's outcome after a completed turn; undefined when the run continues. */
function outcomeOfTurn(active: ActiveRun, progress: Progress): Outcome | undefined {
  const error = active.isLimited ? usageLimitError(active) : undefined;
  if (error) return { status: "failed", error };
  return progress.done ? { status: "completed", stopReason: progress.stopReason } : undefined;
}

/**
 * Gives the team what it has not read of what was sent into the run: every message in the log is in the state that is stored.
 *
 * @returns the messages that the state has, which the table need not keep
 */
function hearTheRest(
  { stores, live }: TurnParts,
  { stored, turnOfTeam }: ActiveRun,
  { runnable }: LoadedTeam,
  read: ReadonlySet<string>,
): readonly SentIn[] {
  const { steering, queue } = stores;
  const sent = steering.all.filter(({ run }) => queue.position(run) === null);
  const rest = sent.filter(({ id }) => !read.has(id));
  if (rest.length === 0) return sent;
  if (runnable.hear === undefined) return sent.filter(({ id }) => read.has(id));
  for (const one of rest) {
    if (one.event !== null) continue;
    live.event(showSent(stores, { run: stored.seq, turn: turnOfTeam }, one));
  }
  runnable.hear(rest.map(({ message }) => message));
  return sent;
}

/** Commits the turn in one transaction, and shows then what is stored. */
export function finishTurn(
  parts: TurnParts,
  of: TurnOf,
  team: LoadedTeam,
  end: Omit<EndOfTurn, "time" | "sent"> & { read: ReadonlySet<string> },
): void {
  const { run, stores, live, team: cache, telemetry, memories, costOf } = parts;
  const { active, execution } = of;
  team.board?.readIncoming();
  const { messageIds } = end.events;
  const time = execution.clock();
  const sent = hearTheRest(parts, active, team, end.read);
  const committed = commitTurn(stores, active, team, { ...end, time, sent });
  const { commit, retract, terminal } = committed;
  telemetry?.committed(active, commit);
  if (end.memory?.hasMail) memories?.written();
  const state = cache.committed(team);
  if (live.isWatched) {
    live.turn(frameOfTurn(active, committed, { messageIds, state }, costOf), state);
  }
  active.advance(commit);
  of.suspect?.leave();
  of.suspect = undefined;
  if (end.outcome && terminal) {
    run.ended(active, { outcome: end.outcome, retract, terminal });
    return;
  }
  // The texts of the turn are complete.
  live.endTexts("forget");
  if (retract) live.event(retract);
}
