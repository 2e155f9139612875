import * as z from "zod";
import type { ChatAgent } from "../agents/chat-agent.ts";
import { type Component, dumpComponent, withoutNulls } from "../component/component.ts";
import type { Stop, TerminationCondition } from "../conditions/termination-condition.ts";
import { type Issue, TroupeError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { SelectSpeakerEvent } from "../messages/agent-events.ts";
import type { TextMessage } from "../messages/chat-messages.ts";
import { createMessage } from "../messages/create.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { expectNoMore, pause, resume, run, type RunOptions, runStream } from "../agents/run.ts";
import type { Member, Progress, TaskInput } from "../run/runnable.ts";
import type { RunResult } from "../run/task-result.ts";
import { wasSteered } from "../turn/steering.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import type { StateParts, Stateful } from "../state/stateful.ts";
import { migrateSavedState } from "../state/migrate-state.ts";
import { GroupChatParts, RunTermination } from "./group-chat-parts.ts";
import type { Decision, GroupChatManager, GroupChatView } from "./group-chat-manager.ts";
import {
  type Participant,
  participantsByName,
  requireParticipants,
  speakSideBySide,
} from "./participant.ts";
import { migrateGroupChat } from "./migrate-group-chat.ts";
import {
  addNews,
  goesOn,
  isUnread,
  messagesOf,
  type News,
  readNews,
  tellManager,
} from "./group-chat-news.ts";
import type { Team } from "./team.ts";
import type { ThreadItem, Unheard } from "./thread.ts";
import {
  aBoolean,
  aCondition,
  aNumber,
  aText,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";

export interface GroupChatOptions {
  name?: string | null | undefined;
  description?: string | null | undefined;
  /** Without one, and without `maxTurns`, a run ends only when it is stopped. */
  terminationCondition?: TerminationCondition | null | undefined;
  /** The most turns of one run. Speakers side by side count as one turn. */
  maxTurns?: number | null | undefined;
  /** True if the stream has an event for each choice of speakers. Default false. */
  emitTeamEvents?: boolean | undefined;
}

export const groupChatOptionsSchema: OptionsSchema<GroupChatOptions> = z.object({
  name: aText.nullish(),
  description: aText.nullish(),
  terminationCondition: aCondition.nullish(),
  maxTurns: aNumber.nullish(),
  emitTeamEvents: aBoolean.optional(),
});

/** Options without those specific to one kind of group chat. */
export function groupChatOptions(options: GroupChatOptions): GroupChatOptions {
  const { name, description, terminationCondition, maxTurns, emitTeamEvents } = options;
  return { name, description, terminationCondition, maxTurns, emitTeamEvents };
}

/**
 * The loop that all group chats share (AutoGen `BaseGroupChat`): relay the task, check the conditions, ask the manager,
 * run the speakers, append their messages, check again. Group chats differ in their manager.
 */
export abstract class GroupChat implements Team {
  abstract readonly definition: Component["definition"];
  readonly name: string;
  readonly description: string;
  readonly #parts: GroupChatParts;
  readonly #emitTeamEvents: boolean;
  readonly #view: GroupChatView;

  /** @throws ValueError when there is no participant, two have the same name, or `maxTurns` is not positive */
  constructor(
    participants: readonly (ChatAgent | Team)[],
    manager: GroupChatManager,
    options: GroupChatOptions & { name: string; description: string },
  ) {
    const owner = new.target.name;
    requireParticipants(participants, owner);
    const checked = checkOptions(groupChatOptionsSchema, options, owner);
    this.name = options.name;
    this.description = options.description;
    const { terminationCondition = null, maxTurns = null, emitTeamEvents = false } = checked;
    const termination = new RunTermination(terminationCondition, maxTurns);
    this.#parts = new GroupChatParts(
      participantsByName(participants, manager.name),
      manager,
      termination,
    );
    this.#emitTeamEvents = emitTeamEvents;
    this.#view = {
      participants: [...this.#parts.participants.values()].map(({ info }) => info),
      thread: this.#parts.thread,
    };
  }

  /**
   * Runs the team in memory to its end (AutoGen `run`), as the function {@link run} does.
   *
   * @example
   * const { text } = await team.run("Write a haiku.");
   */
  run(options?: string | RunOptions): Promise<RunResult> {
    expectNoMore(arguments, 1);
    return run<Team>(this, options);
  }

  /** Runs the team in memory and yields what happens, last the result (AutoGen `run_stream`). See {@link runStream}. */
  runStream(options?: string | RunOptions): AsyncGenerator<Message | RunResult, void, void> {
    expectNoMore(arguments, 1);
    return runStream<Team>(this, options);
  }

  /** Pauses the active run in memory. See {@link pause}. */
  pause(): Promise<void> {
    return pause(this);
  }

  /** Continues the paused run. See {@link resume}. */
  resume(): Promise<void> {
    return resume(this);
  }

  async *begin(task: TaskInput, ctx: TurnContext): AsyncGenerator<Message, Progress, void> {
    addNews(this.#parts, readNews(ctx, "steering:before", { earlier: true }));
    if (this.#parts.termination.terminated) {
      return { done: true, stopReason: "The group chat has already terminated." };
    }
    const { messages, outputTaskMessages, earlier = 0 } = task;
    this.#parts.manager.validateTask?.(messages, this.#view, earlier);
    this.#parts.termination.begin(ctx.elapsedMs);
    this.#parts.thread.beginRun(earlier);
    if (messages === null) return this.#unspoken({ done: false }, ctx);
    if (outputTaskMessages) yield* messages;
    const { orchestrates = false } = this.#parts.manager;
    if (!orchestrates) this.#addToAll(messages);
    this.#parts.manager.observe?.([{ name: null, messages, earlier }], this.#view);
    if (orchestrates) return this.#unspoken({ done: false }, ctx);
    const news = this.#read(ctx);
    addNews(this.#parts, news);
    const delta = [...messages, ...messagesOf(news.late)];
    return this.#afterTurn(delta, ctx, { turns: 0, news, speakers: [] });
  }

  async *turn(ctx: TurnContext): AsyncGenerator<Message, Progress, void> {
    const decision = yield* this.#decide(ctx);
    if (decision.resetParticipants) await this.#resetParticipants(ctx.scope("reset"), true);
    yield* this.#say(decision.say ?? []);
    switch (decision.kind) {
      case "stop":
        return this.#stopAsDecided(decision, ctx);
      case "again":
        return this.#unspoken(ctx.stopRequested ? this.#stop(ASKED) : { done: false }, ctx);
      case "speak":
        return yield* this.#speak(decision, ctx);
    }
  }

  hear(messages: readonly TextMessage[]): void {
    const late = messages.map((message) => ({ message, shared: true, by: null }));
    addNews(this.#parts, { early: [], late });
  }

  get members(): readonly Member[] {
    return [...this.#parts.participants.values()].map(({ subject }) => subject);
  }

  /** The manager's decision, unless a message that waits to be read has decided about the turn. */
  async *#decide(ctx: TurnContext): AsyncGenerator<Message, Decision, void> {
    const { manager, next } = this.#parts;
    this.#parts.next = undefined;
    for (let time = 0; ; time++) {
      addNews(this.#parts, readNews(ctx, `steering:${time}`));
      if (next !== undefined) return { kind: "speak", speakers: next };
      try {
        const scope = ctx.scope(time === 0 ? "manager" : `manager:${time}`);
        return yield* manager.decide(this.#view, scope);
      } catch (error) {
        if (!wasSteered(error)) throw error;
      }
    }
  }

  stop(): void {
    this.#parts.manager.onStop?.();
    this.#stop(ASKED);
  }

  async reset(ctx: TurnContext): Promise<void> {
    await this.#resetParticipants(ctx);
    this.#parts.manager.reset();
    this.#parts.termination.reset();
    this.#parts.next = undefined;
  }

  conversation(): Message[] {
    return this.#parts.thread.slice();
  }

  visibleState(): JsonObject | undefined {
    return this.#parts.manager.visibleState?.();
  }

  async onPause(): Promise<void> {
    for (const { subject } of this.#parts.participants.values()) await subject.onPause();
  }

  async onResume(): Promise<void> {
    for (const { subject } of this.#parts.participants.values()) await subject.onResume();
  }

  async close(): Promise<void> {
    for (const { subject } of this.#parts.participants.values()) await subject.close();
  }

  /** The config keys that all group chats share; subclasses add their own. */
  toConfig(): JsonObject {
    const { condition, maxTurns } = this.#parts.termination;
    return withoutNulls({
      name: this.name,
      description: this.description,
      participants: [...this.#parts.participants.values()].map(({ subject }) =>
        dumpComponent(subject),
      ),
      termination_condition: condition && dumpComponent(condition),
      max_turns: maxTurns,
      emit_team_events: this.#emitTeamEvents,
    });
  }

  saveState(): JsonObject {
    return this.#parts.saveState();
  }

  loadState(state: JsonObject): void {
    this.#parts.loadState(state);
  }

  migrateFrom(previous: Stateful, blank: Stateful): Issue[] {
    if (!(previous instanceof GroupChat && blank instanceof GroupChat)) {
      return migrateSavedState(this, previous, blank);
    }
    return migrateGroupChat(this.#parts, previous.#parts, blank.#parts);
  }

  stateParts(): StateParts {
    return this.#parts.stateParts();
  }

  async *#speak(
    { speakers }: Decision & { kind: "speak" },
    ctx: TurnContext,
  ): AsyncGenerator<Message, Progress, void> {
    if (speakers.length === 0) {
      const stop = { content: "The group chat is stopped.", source: this.#parts.manager.name };
      return this.#stopAsDecided({ kind: "stop", stop }, ctx);
    }
    const chosen = speakers.map((name) => this.#participant(name));
    if (this.#emitTeamEvents) {
      yield createMessage<SelectSpeakerEvent>(ctx, {
        type: "SelectSpeakerEvent",
        source: this.#parts.manager.name,
        content: [...speakers],
      });
    }
    const unheard = (name: string): Unheard => this.#parts.thread.unheard(name, this.name);
    const items = yield* speakSideBySide(chosen, unheard, ctx);
    return this.#append(speakers, items, ctx);
  }

  /** Adds the speakers' messages to the thread, in the order of selection. */
  #append(speakers: readonly string[], items: readonly ThreadItem[][], ctx: TurnContext): Progress {
    const { orchestrates = false } = this.#parts.manager;
    const all = items.flat();
    const shown = orchestrates ? all.filter(({ shared }) => shared) : all;
    const news = this.#read(ctx);
    this.#parts.thread.addSaid(speakers, [...news.early, ...shown, ...news.late]);
    const spoken = speakers.map((name, index) => ({
      name,
      messages: (items[index] ?? []).map(({ message }) => message),
    }));
    tellManager(this.#parts.manager, news.early);
    this.#parts.manager.observe?.(spoken, this.#view);
    tellManager(this.#parts.manager, news.late);
    const said = spoken.flatMap(({ messages }) => messages);
    const delta = [...messagesOf(news.early), ...said, ...messagesOf(news.late)];
    return { ...this.#afterTurn(delta, ctx, { turns: 1, news, speakers }), said };
  }

  #afterTurn(delta: readonly Message[], ctx: TurnContext, of: EndedTurn): Progress {
    const stop = this.#whyStop(delta, ctx, of);
    if (stop === undefined) return { done: false };
    const { orchestrates = false } = this.#parts.manager;
    const turns = orchestrates ? 0 : of.turns;
    if (!ctx.stopRequested && goesOn(this.#parts, of.news, turns, of.speakers)) {
      return { done: false };
    }
    this.#parts.manager.onStop?.();
    return this.#stop(stop);
  }

  #whyStop(delta: readonly Message[], ctx: TurnContext, of: EndedTurn): Stop | undefined {
    const { orchestrates = false, name: source } = this.#parts.manager;
    const receiver = of.turns === 0 ? this.name : undefined;
    const where = { clock: ctx, source, receiver };
    const end = this.#parts.manager.finished?.();
    // A turn that may be followed by another one counts.
    if (end !== undefined && !isUnread(this.#parts, of.news, of.speakers)) return end;
    const stop = this.#parts.termination.check(delta, orchestrates ? 0 : of.turns, where);
    return end ?? stop ?? (ctx.stopRequested ? ASKED : undefined);
  }

  /** The manager ends the run. */
  #stopAsDecided({ stop, atLimit }: Decision & { kind: "stop" }, ctx: TurnContext): Progress {
    const news = this.#read(ctx);
    addNews(this.#parts, news);
    const mayGoOn = atLimit !== true && !ctx.stopRequested;
    return mayGoOn && goesOn(this.#parts, news, 0, []) ? { done: false } : this.#stop(stop);
  }

  /** The end of a turn without a speaker. */
  #unspoken(progress: Progress, ctx: TurnContext): Progress {
    addNews(this.#parts, this.#read(ctx));
    return progress;
  }

  /** The messages that came into the run by the end of a turn. */
  #read(ctx: TurnContext): News {
    return readNews(ctx, "steering", { last: true });
  }

  #stop({ content }: Stop): Progress {
    this.#parts.termination.reset();
    return { done: true, stopReason: content };
  }

  async *#say(messages: readonly ChatMessage[]): AsyncGenerator<Message, void, void> {
    yield* messages;
    this.#addToAll(messages);
  }

  #addToAll(messages: readonly ChatMessage[]): void {
    this.#parts.thread.add(messages.map((message) => ({ message, shared: true, by: null })));
  }

  /** @param keeps true if the messages stay that people have sent since the last speaker */
  async #resetParticipants(ctx: TurnContext, keeps = false): Promise<void> {
    for (const [name, member] of this.#parts.participants) await member.reset(ctx.scope(name));
    const { thread } = this.#parts;
    const kept = keeps ? thread.sentLast() : [];
    thread.clear();
    thread.add(kept);
  }

  #participant(name: string): Participant {
    const found = this.#parts.participants.get(name);
    if (found) return found;
    throw new TroupeError(
      "unknown_speaker",
      `"${name}" was selected to speak and is not a participant; the participants are: ${[...this.#parts.participants.keys()].join(", ")}`,
    );
  }
}

/** A turn at its end, before the conditions are checked. */
interface EndedTurn {
  /** The number of turns that it counts for. */
  turns: 0 | 1;
  news: News;
  speakers: readonly string[];
}

/** The stop reason of a run that was requested to stop after its turn. */
const ASKED: Stop = { content: "External termination requested", source: "ExternalTermination" };
