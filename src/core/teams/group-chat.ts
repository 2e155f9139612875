import type { ChatAgent } from "../agents/chat-agent.ts";
import { type Component, dumpComponent, withoutNulls } from "../component/component.ts";
import type { Stop, TerminationCondition } from "../conditions/termination-condition.ts";
import { type Issue, TroupeError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { SelectSpeakerEvent } from "../messages/agent-events.ts";
import { createMessage } from "../messages/create.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { Progress, TaskInput } from "../run/runnable.ts";
import type { TurnContext } from "../run/turn-context.ts";
import { loadAll } from "../state/load-all.ts";
import { statefulAt, within } from "../state/state-at.ts";
import type { StateParts, Stateful } from "../state/stateful.ts";
import { takeOverState } from "../state/take-over.ts";
import { Ending, type EndingHead } from "./ending.ts";
import {
  type Decision,
  type GroupChatManager,
  type GroupChatView,
  loadManagerHead,
  managerHead,
} from "./group-chat-manager.ts";
import { readGroupChatState, writeGroupChatState } from "./group-chat-state.ts";
import { type Participant, participantsByName } from "./participant.ts";
import { speakSideBySide } from "./speak-side-by-side.ts";
import { takeHandoffs } from "./take-handoffs.ts";
import { type ChatStanding, takeOverChat } from "./take-over-chat.ts";
import type { Team } from "./team.ts";
import { Thread, type ThreadItem } from "./thread.ts";

export interface GroupChatOptions {
  name?: string | null | undefined;
  description?: string | null | undefined;
  /** Without one, and without `maxTurns`, the chat goes on for ever. */
  terminationCondition?: TerminationCondition | null | undefined;
  /** Most turns of one run; side by side counts as one. */
  maxTurns?: number | null | undefined;
  /** Whether the stream shows whom the manager chooses. Default false. */
  emitTeamEvents?: boolean;
}

/** What is stored of a team between turns, besides its thread and its participants. */
type Head = EndingHead & { cursors: { [name: string]: number }; manager: Json };

/**
 * The loop that all group chats share (AutoGen `BaseGroupChat`): relay the task, check the conditions, ask the
 * manager, let the speakers speak, append, check again. The manager is what they differ in.
 */
export abstract class GroupChat implements Team {
  abstract readonly definition: Component["definition"];
  readonly name: string;
  readonly description: string;
  readonly #participants: ReadonlyMap<string, Participant>;
  readonly #manager: GroupChatManager;
  readonly #ending: Ending;
  readonly #emitTeamEvents: boolean;
  readonly #thread: Thread;
  readonly #view: GroupChatView;

  /** @throws ValueError when there is no participant, two have the same name, or `maxTurns` is not positive */
  constructor(
    participants: readonly (ChatAgent | Team)[],
    manager: GroupChatManager,
    options: GroupChatOptions & { name: string; description: string },
  ) {
    this.name = options.name;
    this.description = options.description;
    this.#participants = participantsByName(participants, manager.name);
    this.#manager = manager;
    this.#ending = new Ending(options.terminationCondition ?? null, options.maxTurns ?? null);
    this.#emitTeamEvents = options.emitTeamEvents ?? false;
    this.#thread = new Thread([...this.#participants.keys()]);
    this.#view = {
      participants: [...this.#participants.values()].map(({ info }) => info),
      thread: this.#thread,
    };
  }

  async *begin(task: TaskInput, ctx: TurnContext): AsyncGenerator<Message, Progress, void> {
    if (this.#ending.terminated) {
      return { done: true, stopReason: "The group chat has already terminated." };
    }
    const { messages, outputTaskMessages } = task;
    this.#manager.validateTask?.(messages, this.#view);
    this.#ending.begin(ctx.elapsedMs);
    if (messages === null) return { done: false };
    if (outputTaskMessages) yield* messages;
    const { keepsTask = false } = this.#manager;
    if (!keepsTask) this.#addToAll(messages);
    this.#manager.observe?.([{ name: null, messages }], this.#view);
    if (keepsTask) return { done: false };
    return this.#afterTurn(messages, 0, ctx);
  }

  async *turn(ctx: TurnContext): AsyncGenerator<Message, Progress, void> {
    const decision = yield* this.#manager.decide(this.#view, ctx.scope("manager"));
    if (decision.resetParticipants) await this.#resetParticipants(ctx.scope("reset"));
    yield* this.#say(decision.say ?? []);
    if (decision.kind === "stop") return this.#stop(decision.stop);
    if (decision.kind === "again") return ctx.stopRequested ? this.#stop(ASKED) : { done: false };
    return yield* this.#speak(decision, ctx);
  }

  stop(): void {
    this.#manager.onStop?.();
    this.#stop(ASKED);
  }

  async reset(ctx: TurnContext): Promise<void> {
    await this.#resetParticipants(ctx);
    this.#manager.reset();
    this.#ending.reset();
  }

  conversation(): Message[] {
    return this.#thread.slice();
  }

  async onPause(): Promise<void> {
    for (const { subject } of this.#participants.values()) await subject.onPause();
  }

  async onResume(): Promise<void> {
    for (const { subject } of this.#participants.values()) await subject.onResume();
  }

  async close(): Promise<void> {
    for (const { subject } of this.#participants.values()) await subject.close();
  }

  /** The config keys all group chats share; a kind with more adds its own. */
  toConfig(): JsonObject {
    const { condition, maxTurns } = this.#ending;
    return withoutNulls({
      name: this.name,
      description: this.description,
      participants: [...this.#participants.values()].map(({ subject }) => dumpComponent(subject)),
      termination_condition: condition && dumpComponent(condition),
      max_turns: maxTurns,
      emit_team_events: this.#emitTeamEvents,
    });
  }

  saveState(): JsonObject {
    const names = [...this.#participants.keys()];
    const state = {
      agents: new Map(
        [...this.#participants].map(([name, { subject }]) => [name, subject.saveState()]),
      ),
      unheard: new Map(names.map((name) => [name, this.#thread.unheard(name)])),
      thread: this.conversation(),
      turn: this.#ending.turn,
      condition: this.#ending.conditionState,
      manager: this.#manager.saveState(),
    };
    return writeGroupChatState(state, this.#manager.name);
  }

  loadState(state: JsonObject): void {
    const manager = this.#manager;
    const read = readGroupChatState(state, [...this.#participants.keys()], manager.name);
    const condition = within(`agent_states.${manager.name}.troupe.condition`, () =>
      this.#ending.parseCondition(read.condition),
    );
    // The manager comes last: unlike the agents, it could not be given back what it had.
    loadAll([
      ...[...this.#participants].map(
        ([name, { subject }]) =>
          [
            statefulAt(`agent_states.${name}.agent_state`, subject),
            read.agents.get(name) ?? {},
          ] as const,
      ),
      [statefulAt(`agent_states.${manager.name}`, this.#managerWith(read.thread)), read.manager],
    ]);
    this.#thread.replace(read.thread, read.unheard);
    this.#ending.load(read.turn, condition);
  }

  takeOver(previous: Stateful, blank: Stateful): Issue[] {
    if (!(previous instanceof GroupChat && blank instanceof GroupChat)) {
      return takeOverState(this, previous, blank);
    }
    return takeOverChat(this.#standing(), previous.#standing(), blank.#standing());
  }

  stateParts(): StateParts {
    const manager = this.#manager;
    const subjects = [...this.#participants].map(([name, { subject }]) => [name, subject] as const);
    return {
      head: { save: () => this.#head(), load: (head) => this.#loadHead(head as Head) },
      logs: this.#thread.logs,
      children: {
        ...Object.fromEntries(subjects),
        ...(manager.children && { [manager.name]: this.#managerParts() }),
      },
    };
  }

  async *#speak(
    { speakers }: Decision & { kind: "speak" },
    ctx: TurnContext,
  ): AsyncGenerator<Message, Progress, void> {
    if (speakers.length === 0)
      return this.#stop({ content: "The group chat is stopped.", source: this.#manager.name });
    const chosen = speakers.map((name) => this.#participant(name));
    if (this.#emitTeamEvents) {
      yield createMessage<SelectSpeakerEvent>(ctx, {
        type: "SelectSpeakerEvent",
        source: this.#manager.name,
        content: [...speakers],
      });
    }
    const unheard = (name: string): ChatMessage[] =>
      takeHandoffs(this.#thread.unheard(name), { to: this.name, by: name });
    const items = yield* speakSideBySide(chosen, unheard, ctx);
    return this.#append(speakers, items, ctx);
  }

  /** Puts what the speakers said into the thread, in the order in which they were selected. */
  #append(speakers: readonly string[], items: readonly ThreadItem[][], ctx: TurnContext): Progress {
    const start = this.#thread.length;
    const { sharedOnly = false } = this.#manager;
    for (const said of items) {
      this.#thread.add(sharedOnly ? said.filter(({ shared }) => shared) : said);
    }
    for (const name of speakers) this.#thread.heard(name, start);
    const spoken = speakers.map((name, index) => ({
      name,
      messages: (items[index] ?? []).map(({ message }) => message),
    }));
    this.#manager.observe?.(spoken, this.#view);
    const said = spoken.flatMap(({ messages }) => messages);
    return { ...this.#afterTurn(said, 1, ctx), said };
  }

  #afterTurn(delta: readonly Message[], turns: 0 | 1, ctx: TurnContext): Progress {
    const stop = this.#whyStop(delta, turns, ctx);
    if (stop === undefined) return { done: false };
    this.#manager.onStop?.();
    return this.#stop(stop);
  }

  #whyStop(delta: readonly Message[], turns: 0 | 1, ctx: TurnContext): Stop | undefined {
    const { countsTurns = false, name: source } = this.#manager;
    const receiver = turns === 0 ? this.name : undefined;
    const where = { elapsedMs: ctx.elapsedMs, source, receiver };
    return (
      this.#manager.finished?.() ??
      this.#ending.check(delta, countsTurns ? 0 : turns, where) ??
      (ctx.stopRequested ? ASKED : undefined)
    );
  }

  #stop({ content }: Stop): Progress {
    this.#ending.reset();
    return { done: true, stopReason: content };
  }

  async *#say(messages: readonly ChatMessage[]): AsyncGenerator<Message, void, void> {
    yield* messages;
    this.#addToAll(messages);
  }

  #addToAll(messages: readonly ChatMessage[]): void {
    this.#thread.add(messages.map((message) => ({ message, shared: true, by: null })));
  }

  async #resetParticipants(ctx: TurnContext): Promise<void> {
    for (const [name, member] of this.#participants) await member.reset(ctx.scope(name));
    this.#thread.clear();
  }

  #participant(name: string): Participant {
    const found = this.#participants.get(name);
    if (found) return found;
    throw new TroupeError(
      "unknown_speaker",
      `"${name}" was selected to speak and is no participant; there are: ${[...this.#participants.keys()].join(", ")}`,
    );
  }

  #head(): Head {
    return {
      ...this.#ending.head(),
      cursors: this.#thread.cursors,
      manager: managerHead(this.#manager),
    };
  }

  #loadHead(head: Head): void {
    this.#ending.loadHead(head);
    this.#thread.cursors = head.cursors;
    loadManagerHead(this.#manager, head.manager);
  }

  #standing(): ChatStanding {
    return {
      participants: this.#participants,
      thread: this.#thread,
      manager: this.#manager,
      managerParts: this.#managerParts(),
      ending: this.#ending,
    };
  }

  #managerParts(): Stateful {
    const children = this.#manager.children?.() ?? {};
    return { ...this.#managerWith([]), stateParts: () => ({ children }) };
  }

  /** The manager's state, loaded for a conversation that stands elsewhere. */
  #managerWith(thread: readonly Message[]): Stateful {
    const manager = this.#manager;
    return {
      saveState: () => manager.saveState(),
      loadState: (state) => manager.loadState(state, thread),
    };
  }
}

/** Why a run ends that somebody asked to stop after the turn in progress, whatever its conditions. */
const ASKED: Stop = { content: "External termination requested", source: "ExternalTermination" };
