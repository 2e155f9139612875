import type { ChatAgent } from "../agents/chat-agent.ts";
import { type Component, dumpComponent, withoutNulls } from "../component/component.ts";
import type { Stop, TerminationCondition } from "../conditions/termination-condition.ts";
import { type Issue, TroupeError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { SelectSpeakerEvent } from "../messages/agent-events.ts";
import { createMessage } from "../messages/create.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import type { Progress, TaskInput } from "../run/runnable.ts";
import type { TurnContext } from "../run/turn-context.ts";
import type { StateParts, Stateful } from "../state/stateful.ts";
import { takeOverState } from "../state/take-over.ts";
import { ChatStanding } from "./chat-standing.ts";
import { Ending } from "./ending.ts";
import type { Decision, GroupChatManager, GroupChatView } from "./group-chat-manager.ts";
import { type Participant, participantsByName } from "./participant.ts";
import { speakSideBySide } from "./speak-side-by-side.ts";
import { takeHandoffs } from "./take-handoffs.ts";
import { takeOverChat } from "./take-over-chat.ts";
import type { Team } from "./team.ts";
import type { ThreadItem } from "./thread.ts";

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

/**
 * The loop that all group chats share (AutoGen `BaseGroupChat`): relay the task, check the conditions, ask the
 * manager, let the speakers speak, append, check again. The manager is what they differ in.
 */
export abstract class GroupChat implements Team {
  abstract readonly definition: Component["definition"];
  readonly name: string;
  readonly description: string;
  readonly #standing: ChatStanding;
  readonly #emitTeamEvents: boolean;
  readonly #view: GroupChatView;

  /** @throws ValueError when there is no participant, two have the same name, or `maxTurns` is not positive */
  constructor(
    participants: readonly (ChatAgent | Team)[],
    manager: GroupChatManager,
    options: GroupChatOptions & { name: string; description: string },
  ) {
    this.name = options.name;
    this.description = options.description;
    const { terminationCondition = null, maxTurns = null, emitTeamEvents = false } = options;
    const ending = new Ending(terminationCondition, maxTurns);
    this.#standing = new ChatStanding(
      participantsByName(participants, manager.name),
      manager,
      ending,
    );
    this.#emitTeamEvents = emitTeamEvents;
    this.#view = {
      participants: [...this.#standing.participants.values()].map(({ info }) => info),
      thread: this.#standing.thread,
    };
  }

  async *begin(task: TaskInput, ctx: TurnContext): AsyncGenerator<Message, Progress, void> {
    if (this.#standing.ending.terminated) {
      return { done: true, stopReason: "The group chat has already terminated." };
    }
    const { messages, outputTaskMessages } = task;
    this.#standing.manager.validateTask?.(messages, this.#view);
    this.#standing.ending.begin(ctx.elapsedMs);
    if (messages === null) return { done: false };
    if (outputTaskMessages) yield* messages;
    const { keepsTask = false } = this.#standing.manager;
    if (!keepsTask) this.#addToAll(messages);
    this.#standing.manager.observe?.([{ name: null, messages }], this.#view);
    if (keepsTask) return { done: false };
    return this.#afterTurn(messages, 0, ctx);
  }

  async *turn(ctx: TurnContext): AsyncGenerator<Message, Progress, void> {
    const decision = yield* this.#standing.manager.decide(this.#view, ctx.scope("manager"));
    if (decision.resetParticipants) await this.#resetParticipants(ctx.scope("reset"));
    yield* this.#say(decision.say ?? []);
    if (decision.kind === "stop") return this.#stop(decision.stop);
    if (decision.kind === "again") return ctx.stopRequested ? this.#stop(ASKED) : { done: false };
    return yield* this.#speak(decision, ctx);
  }

  stop(): void {
    this.#standing.manager.onStop?.();
    this.#stop(ASKED);
  }

  async reset(ctx: TurnContext): Promise<void> {
    await this.#resetParticipants(ctx);
    this.#standing.manager.reset();
    this.#standing.ending.reset();
  }

  conversation(): Message[] {
    return this.#standing.thread.slice();
  }

  async onPause(): Promise<void> {
    for (const { subject } of this.#standing.participants.values()) await subject.onPause();
  }

  async onResume(): Promise<void> {
    for (const { subject } of this.#standing.participants.values()) await subject.onResume();
  }

  async close(): Promise<void> {
    for (const { subject } of this.#standing.participants.values()) await subject.close();
  }

  /** The config keys all group chats share; a kind with more adds its own. */
  toConfig(): JsonObject {
    const { condition, maxTurns } = this.#standing.ending;
    return withoutNulls({
      name: this.name,
      description: this.description,
      participants: [...this.#standing.participants.values()].map(({ subject }) =>
        dumpComponent(subject),
      ),
      termination_condition: condition && dumpComponent(condition),
      max_turns: maxTurns,
      emit_team_events: this.#emitTeamEvents,
    });
  }

  saveState(): JsonObject {
    return this.#standing.saveState();
  }

  loadState(state: JsonObject): void {
    this.#standing.loadState(state);
  }

  takeOver(previous: Stateful, blank: Stateful): Issue[] {
    if (!(previous instanceof GroupChat && blank instanceof GroupChat)) {
      return takeOverState(this, previous, blank);
    }
    return takeOverChat(this.#standing, previous.#standing, blank.#standing);
  }

  stateParts(): StateParts {
    return this.#standing.stateParts();
  }

  async *#speak(
    { speakers }: Decision & { kind: "speak" },
    ctx: TurnContext,
  ): AsyncGenerator<Message, Progress, void> {
    if (speakers.length === 0)
      return this.#stop({
        content: "The group chat is stopped.",
        source: this.#standing.manager.name,
      });
    const chosen = speakers.map((name) => this.#participant(name));
    if (this.#emitTeamEvents) {
      yield createMessage<SelectSpeakerEvent>(ctx, {
        type: "SelectSpeakerEvent",
        source: this.#standing.manager.name,
        content: [...speakers],
      });
    }
    const unheard = (name: string): ChatMessage[] =>
      takeHandoffs(this.#standing.thread.unheard(name), { to: this.name, by: name });
    const items = yield* speakSideBySide(chosen, unheard, ctx);
    return this.#append(speakers, items, ctx);
  }

  /** Puts what the speakers said into the thread, in the order in which they were selected. */
  #append(speakers: readonly string[], items: readonly ThreadItem[][], ctx: TurnContext): Progress {
    const start = this.#standing.thread.length;
    const { sharedOnly = false } = this.#standing.manager;
    for (const said of items) {
      this.#standing.thread.add(sharedOnly ? said.filter(({ shared }) => shared) : said);
    }
    for (const name of speakers) this.#standing.thread.heard(name, start);
    const spoken = speakers.map((name, index) => ({
      name,
      messages: (items[index] ?? []).map(({ message }) => message),
    }));
    this.#standing.manager.observe?.(spoken, this.#view);
    const said = spoken.flatMap(({ messages }) => messages);
    return { ...this.#afterTurn(said, 1, ctx), said };
  }

  #afterTurn(delta: readonly Message[], turns: 0 | 1, ctx: TurnContext): Progress {
    const stop = this.#whyStop(delta, turns, ctx);
    if (stop === undefined) return { done: false };
    this.#standing.manager.onStop?.();
    return this.#stop(stop);
  }

  #whyStop(delta: readonly Message[], turns: 0 | 1, ctx: TurnContext): Stop | undefined {
    const { countsTurns = false, name: source } = this.#standing.manager;
    const receiver = turns === 0 ? this.name : undefined;
    const where = { elapsedMs: ctx.elapsedMs, source, receiver };
    return (
      this.#standing.manager.finished?.() ??
      this.#standing.ending.check(delta, countsTurns ? 0 : turns, where) ??
      (ctx.stopRequested ? ASKED : undefined)
    );
  }

  #stop({ content }: Stop): Progress {
    this.#standing.ending.reset();
    return { done: true, stopReason: content };
  }

  async *#say(messages: readonly ChatMessage[]): AsyncGenerator<Message, void, void> {
    yield* messages;
    this.#addToAll(messages);
  }

  #addToAll(messages: readonly ChatMessage[]): void {
    this.#standing.thread.add(messages.map((message) => ({ message, shared: true, by: null })));
  }

  async #resetParticipants(ctx: TurnContext): Promise<void> {
    for (const [name, member] of this.#standing.participants) await member.reset(ctx.scope(name));
    this.#standing.thread.clear();
  }

  #participant(name: string): Participant {
    const found = this.#standing.participants.get(name);
    if (found) return found;
    throw new TroupeError(
      "unknown_speaker",
      `"${name}" was selected to speak and is no participant; there are: ${[...this.#standing.participants.keys()].join(", ")}`,
    );
  }
}

/** Why a run ends that somebody asked to stop after the turn in progress, whatever its conditions. */
const ASKED: Stop = { content: "External termination requested", source: "ExternalTermination" };
