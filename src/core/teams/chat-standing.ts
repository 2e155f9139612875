import type { Json, JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { loadAll } from "../state/load-all.ts";
import { statefulAt, within } from "../state/state-at.ts";
import type { StateParts, Stateful } from "../state/stateful.ts";
import type { Ending, EndingHead } from "./ending.ts";
import { type GroupChatManager, loadManagerHead, managerHead } from "./group-chat-manager.ts";
import { readGroupChatState, writeGroupChatState } from "./group-chat-state.ts";
import type { Participant } from "./participant.ts";
import { Thread } from "./thread.ts";

/** What is stored between turns, besides the thread and the participants. */
type Head = EndingHead & { cursors: { [name: string]: number }; manager: Json };

/** What a group chat consists of, and where it stands: all of its state, in AutoGen's form and piece by piece. */
export class ChatStanding implements Stateful {
  readonly participants: ReadonlyMap<string, Participant>;
  readonly thread: Thread;
  readonly manager: GroupChatManager;
  readonly ending: Ending;

  constructor(
    participants: ReadonlyMap<string, Participant>,
    manager: GroupChatManager,
    ending: Ending,
  ) {
    this.participants = participants;
    this.manager = manager;
    this.ending = ending;
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
      unheard: new Map(names.map((name) => [name, this.thread.unheard(name)])),
      thread: this.thread.slice(),
      turn: this.ending.turn,
      condition: this.ending.conditionState,
      manager: this.manager.saveState(),
    };
    return writeGroupChatState(state, this.manager.name);
  }

  loadState(state: JsonObject): void {
    const manager = this.manager;
    const read = readGroupChatState(state, [...this.participants.keys()], manager.name);
    const condition = within(`agent_states.${manager.name}.troupe.condition`, () =>
      this.ending.parseCondition(read.condition),
    );
    // The manager comes last: unlike the agents, it could not be given back what it had.
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
    this.ending.load(read.turn, condition);
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
      ...this.ending.head(),
      cursors: this.thread.cursors,
      manager: managerHead(this.manager),
    };
  }

  #loadHead(head: Head): void {
    this.ending.loadHead(head);
    this.thread.cursors = head.cursors;
    loadManagerHead(this.manager, head.manager);
  }

  /** The manager's state, loaded for a conversation that stands elsewhere. */
  #managerWith(thread: readonly Message[]): Stateful {
    const manager = this.manager;
    return {
      saveState: () => manager.saveState(),
      loadState: (state) => manager.loadState(state, thread),
    };
  }
}
