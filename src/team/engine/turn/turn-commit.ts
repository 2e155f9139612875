import type { TurnMemory } from "./turn-memory.ts";
import type { TextPieces } from "../../../contract/stream/text-pieces.ts";
import type { NestedLedgers } from "../../../contract/turn.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import { isChatMessage } from "../../../core/messages/views.ts";
import type { EventLog, RecordedEvent } from "../../storage/event-log.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { ActiveRun } from "../active-run.ts";
import type { LoadedTeam } from "../team-cache.ts";
import { type Outcome, writeOutcome } from "../run-outcome.ts";
import { storeSpans } from "../../../telemetry/stored-spans.ts";
import type { Commit } from "../../storage/commits.ts";
import { keepSteps } from "../../storage/runs/kept-steps.ts";
import type { Stores } from "../../storage/stores.ts";

export interface TurnEventsOptions {
  log: EventLog;
  /** Row of the run. */
  run: number;
  /** Number of the turn in the team's life. */
  turn: number;
  /** The cursor of the last commit: later events belong to this turn. */
  after: number;
  /** Ids of messages of the conversation that streams do not show. */
  quiet: ReadonlySet<string>;
}

/**
 * The messages of one turn. A turn that runs again emits the same ids, and the log keeps the first of each. Messages it does
 * not emit again (other code, random ids) are retracted.
 */
export class TurnEvents {
  readonly #options: TurnEventsOptions;
  /** Cursors of messages recorded before a restart and not emitted again yet, by message id. */
  readonly #outstanding = new Map<string, number[]>();
  readonly #emitted: { seq: number; id: string }[] = [];
  #lastSaid: { seq: number; message: ChatMessage } | undefined;

  constructor(options: TurnEventsOptions) {
    this.#options = options;
    const { log, after } = options;
    if (log.last === after) return;
    for (const { seq, id } of log.messageIds(after)) {
      const seqs = this.#outstanding.get(id);
      if (seqs) seqs.push(seq);
      else this.#outstanding.set(id, [seq]);
    }
  }

  /**
   * Records a message; undefined when the log has it already.
   *
   * @param pieces that it was streamed in
   */
  emit(message: Message, pieces?: TextPieces): RecordedEvent | undefined {
    const { id } = message;
    const recorded = this.#outstanding.get(id)?.shift();
    if (recorded !== undefined) {
      this.#add(recorded, message);
      return undefined;
    }
    const { log, run, turn, quiet } = this.#options;
    const event = log.emit(run, turn, message, quiet.has(id) ? "quiet" : "message", pieces);
    this.#add(event.seq, message);
    return event;
  }

  #add(seq: number, message: Message): void {
    this.#emitted.push({ seq, id: message.id });
    // In a turn that runs again, parallel branches may emit in another order than the log has.
    if (isChatMessage(message) && seq > (this.#lastSaid?.seq ?? 0))
      this.#lastSaid = { seq, message };
  }

  /** The last chat message in the log that the turn has emitted. */
  get lastSaid(): ChatMessage | undefined {
    return this.#lastSaid?.message;
  }

  /** The messages that the turn has emitted, in their order. */
  get messageIds(): string[] {
    return this.#emitted.map(({ id }) => id);
  }

  /** Retracts messages recorded before a restart that were not emitted again. */
  retractOutstanding(): RecordedEvent | undefined {
    const left = [...this.#outstanding].flatMap(([id, seqs]) => seqs.map((seq) => ({ seq, id })));
    this.#outstanding.clear();
    return this.#retract(left);
  }

  /** The turn is given up: retracts all its messages. */
  retractAll(): RecordedEvent | undefined {
    const { log, after } = this.#options;
    this.#outstanding.clear();
    this.#emitted.length = 0;
    this.#lastSaid = undefined;
    return this.#retract(log.messageIds(after));
  }

  #retract(messages: readonly { seq: number; id: string }[]): RecordedEvent | undefined {
    if (messages.length === 0) return undefined;
    const { log, run, turn } = this.#options;
    log.retract(messages.map(({ seq }) => seq));
    const message_ids = [...new Set(messages.map(({ id }) => id))];
    return log.append(run, turn, "retract", null, JSON.stringify({ message_ids }));
  }
}

export interface EndOfTurn {
  /** The run's outcome if it ends with this turn. */
  outcome: Outcome | undefined;
  /** The run's next turn. */
  next: number;
  time: Moment;
  /** What the turn has written of memories. */
  memory: TurnMemory | undefined;
  /** The ledgers of teams inside participants; undefined where none has any. */
  nested: readonly NestedLedgers[] | undefined;
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
  { outcome, next, time, memory, nested }: EndOfTurn,
): Committed {
  const { log, steps, questions, knownResults: known } = stores;
  // The steps go with the commit; should it fail, a retry needs them.
  const putBack = steps.withdraw();
  const remember = memory?.prepare();
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
      ...(nested && nested.length > 0 && { nested }),
      event: log.last,
      since: conversationCursor,
      empty: false,
    };
    remember?.();
    const ended = [...steps.entries()];
    // After the outcome, which counts their model calls.
    steps.clear();
    open.state.write(
      commit,
      ended.length === 0
        ? undefined
        : (inLogs) => keepSteps(ended, log.references, { turn: turnOfTeam, inLogs, known }),
    );
    return { commit, retract, terminal };
  }, putBack);
  open.state.committed();
  return committed;
}
