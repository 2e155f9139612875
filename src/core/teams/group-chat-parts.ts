import { continued, isAtLimit } from "../conditions/base-termination.ts";
import type { Stop, TerminationCondition } from "../conditions/termination-condition.ts";
import { ValueError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { loadAll, statefulAt } from "../state/load-state.ts";
import { isSameComponent } from "../state/migrate-state.ts";
import { type StateParts, type Stateful, within } from "../state/stateful.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { GroupChatManager } from "./group-chat-manager.ts";
import { readGroupChatState, writeGroupChatState } from "./group-chat-state.ts";
import type { Participant } from "./participant.ts";
import { Thread } from "./thread.ts";

/** The state stored between turns, besides the thread and the participants. */
type Head = RunTerminationHead & {
  cursors: { [name: string]: number };
  /** The speakers of a turn that follows the end of the run, because a message waits to be read. */
  next?: string[];
  /** Missing in the state of earlier versions. */
  run_start?: number;
  manager: Json;
};

/** The parts of a group chat and their state, as a whole in AutoGen's form and in pieces for a host. */
export class GroupChatParts implements Stateful {
  readonly participants: ReadonlyMap<string, Participant>;
  readonly thread: Thread;
  readonly manager: GroupChatManager;
  readonly termination: RunTermination;
  /** The speakers of the next turn where the manager does not decide them. */
  next: readonly string[] | undefined;

  constructor(
    participants: ReadonlyMap<string, Participant>,
    manager: GroupChatManager,
    termination: RunTermination,
  ) {
    this.participants = participants;
    this.manager = manager;
    this.termination = termination;
    this.thread = new Thread([...participants.keys()]);
  }

  /** The manager's model context and model client. */
  get managerParts(): Stateful {
    const children = this.manager.children?.() ?? {};
    return { ...this.#managerWith([]), stateParts: () => ({ children }) };
  }

  saveState(): JsonObject {
    const names = [...this.participants.keys()];
    const state = {
      agents: new Map(
        [...this.participants].map(([name, { subject }]) => [name, subject.saveState()]),
      ),
      unheard: new Map(names.map((name) => [name, this.thread.unheard(name).messages])),
      thread: this.thread.slice(),
      turn: this.termination.turn,
      condition: this.termination.conditionState,
      manager: this.manager.saveState(),
    };
    return writeGroupChatState(state, this.manager.name);
  }

  loadState(state: JsonObject): void {
    const manager = this.manager;
    const read = readGroupChatState(state, [...this.participants.keys()], manager.name);
    const condition = within(`agent_states.${manager.name}.troupe.condition`, () =>
      this.termination.parseCondition(read.condition),
    );
    // The manager is loaded last because its previous state could not be restored.
    loadAll([
      ...[...this.participants].map(
        ([name, { subject }]) =>
          [
            statefulAt(`agent_states.${name}.agent_state`, subject),
            read.agents.get(name) ?? {},
          ] as const,
      ),
      [statefulAt(`agent_states.${manager.name}`, this.#managerWith(read.thread)), read.manager],
    ]);
    this.thread.replace(read.thread, read.unheard);
    this.next = undefined;
    this.termination.load(read.turn, condition);
  }

  stateParts(): StateParts {
    const manager = this.manager;
    const subjects = [...this.participants].map(([name, { subject }]) => [name, subject] as const);
    return {
      head: { save: () => this.#head(), load: (head) => this.#loadHead(head as Head) },
      logs: this.thread.logs,
      children: {
        ...Object.fromEntries(subjects),
        ...(manager.children && { [manager.name]: this.managerParts }),
      },
    };
  }

  #head(): Head {
    return {
      ...this.termination.head(),
      cursors: this.thread.cursors,
      run_start: this.thread.runStart,
      ...(this.next && { next: [...this.next] }),
      manager: managerHead(this.manager),
    };
  }

  #loadHead(head: Head): void {
    this.termination.loadHead(head);
    this.thread.cursors = head.cursors;
    this.thread.runStart = head.run_start ?? 0;
    this.next = head.next;
    loadManagerHead(this.manager, head.manager);
  }

  /** The manager's state; loading it needs the thread. */
  #managerWith(thread: readonly Message[]): Stateful {
    const manager = this.manager;
    return {
      saveState: () => manager.saveState(),
      loadState: (state) => manager.loadState(state, thread),
    };
  }
}

export function managerHead(manager: GroupChatManager): Json {
  return manager.head ? manager.head() : manager.saveState();
}

export function loadManagerHead(manager: GroupChatManager, head: Json): void {
  if (manager.loadHead) manager.loadHead(head);
  else manager.loadState(head as JsonObject, []);
}

/** The progress of a run towards its end, as it is stored. */
type RunTerminationHead = { turn: number; started: number; condition: Json };

/** Ends the runs of a group chat: its termination condition, its limit of turns and the present run's progress. */
export class RunTermination {
  readonly condition: TerminationCondition | null;
  readonly maxTurns: number | null;
  #conditionState: Json;
  #turn = 0;
  #stoppedByCondition = false;
  /** When the run began, in running time of the outermost run: an inner team starts part-way through it. */
  #startedMs = 0;

  /** @throws ValueError when `maxTurns` is not positive */
  constructor(condition: TerminationCondition | null, maxTurns: number | null) {
    if (maxTurns !== null && maxTurns <= 0) {
      const message = `must be greater than 0, not ${maxTurns}`;
      throw new ValueError(`max_turns ${message}`, { issues: [{ path: "max_turns", message }] });
    }
    this.condition = condition;
    this.maxTurns = maxTurns;
    this.#conditionState = condition?.initialState() ?? null;
  }

  /** True if the condition has stopped the chat and was not reset since: a saved state may say so. */
  get terminated(): boolean {
    return this.condition?.terminated(this.#conditionState) ?? false;
  }

  /** Turns of the present run so far. */
  get turn(): number {
    return this.#turn;
  }

  /** The condition's state to save; undefined without a condition. */
  get conditionState(): Json | undefined {
    return this.condition ? this.#conditionState : undefined;
  }

  begin(elapsedMs: number): void {
    this.#startedMs = elapsedMs;
  }

  /**
   * Why the run ends after the new messages in `delta`; undefined when it continues.
   *
   * @param turns how many turns they count for
   * @param where `clock`: the running time; `receiver`: the team's name when `delta` is its task
   */
  check(
    delta: readonly Message[],
    turns: 0 | 1,
    where: {
      clock: Pick<TurnContext, "elapsedMs">;
      source: string;
      receiver: string | undefined;
    },
  ): Stop | undefined {
    if (this.condition) {
      const step = this.condition.check(this.#conditionState, delta, {
        elapsedMs: where.clock.elapsedMs - this.#startedMs,
        receiver: where.receiver,
      });
      this.#conditionState = step.state;
      // As in AutoGen, the turn is not counted then.
      this.#stoppedByCondition = step.stop !== undefined;
      if (step.stop) return step.stop;
    }
    this.#turn += turns;
    if (this.maxTurns === null || this.#turn < this.maxTurns) return undefined;
    return { content: `Maximum number of turns ${this.maxTurns} reached.`, source: where.source };
  }

  /**
   * Continues after the condition, or something else, has ended the run.
   *
   * @param turns how many turns the last check would have counted
   * @returns whether a turn may follow: not at a limit, which stays
   */
  goOn(turns: 0 | 1): boolean {
    const { condition, maxTurns } = this;
    const turn = this.#turn + (this.#stoppedByCondition ? turns : 0);
    if (maxTurns !== null && turn >= maxTurns) return false;
    if (condition && isAtLimit(condition, this.#conditionState)) return false;
    this.#turn = turn;
    if (condition) this.#conditionState = continued(condition, this.#conditionState);
    return true;
  }

  /** Starts counting again for the next run. */
  reset(): void {
    this.#turn = 0;
    this.#conditionState = this.condition?.reset() ?? null;
  }

  /**
   * Parses a saved state of the condition; without one it starts fresh.
   *
   * @throws StateError
   */
  parseCondition(state: Json | undefined): Json {
    const { condition } = this;
    return (state === undefined ? condition?.initialState() : condition?.parseState(state)) ?? null;
  }

  /** Loads a saved state whose condition was {@link parseCondition parsed}. */
  load(turn: number, conditionState: Json): void {
    this.#turn = turn;
    this.#startedMs = 0;
    this.#conditionState = conditionState;
  }

  /** Continues from the replaced component; a condition or limit that differs starts fresh. */
  continueFrom(previous: RunTermination): void {
    if (isSameComponent(this.condition, previous.condition)) {
      this.#conditionState = previous.#conditionState;
    }
    if (this.maxTurns === previous.maxTurns) this.#turn = previous.#turn;
  }

  head(): RunTerminationHead {
    return { turn: this.#turn, started: this.#startedMs, condition: this.#conditionState };
  }

  loadHead({ turn, started, condition }: RunTerminationHead): void {
    this.#turn = turn;
    this.#startedMs = started;
    this.#conditionState = condition;
  }
}
