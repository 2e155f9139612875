import type { Json, JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { loadAll, statefulAt } from "../state/load-state.ts";
import { type StateParts, type Stateful, within } from "../state/stateful.ts";
import type { RunTermination, RunTerminationHead } from "./run-termination.ts";
import type { GroupChatManager } from "./group-chat-manager.ts";
import { readGroupChatState, writeGroupChatState } from "./group-chat-state.ts";
import type { Participant } from "./participant.ts";
import { Thread } from "./thread.ts";

/** The state stored between turns, besides the thread and the participants. */
type Head = RunTerminationHead & {
  cursors: { [name: string]: number };
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
      manager: managerHead(this.manager),
    };
  }

  #loadHead(head: Head): void {
    this.termination.loadHead(head);
    this.thread.cursors = head.cursors;
    this.thread.runStart = head.run_start ?? 0;
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
