import type { Message } from "../core/messages/message.ts";
import { Conversation, type StreamItem, type TextInProgress } from "./conversation.ts";
import { type ApiError, type ConnectionError, RunError } from "./errors.ts";
import type { RetryingFrame } from "../contract/stream/stream-frame.ts";
import type { HumanRequest, MessagePage, RunInfo } from "./wire.ts";

/** What a page shows of a team. Parts that stay the same from one state to the next are the same objects. */
export interface TeamState {
  /**
   * The status of the current run, or of the last one; `idle` before the first. `connecting` until the team is loaded,
   * `unavailable` when it cannot be: see `error`.
   */
  status: "connecting" | "unavailable" | "idle" | RunInfo["status"];
  /** Whether changes arrive: false while a lost connection is replaced. */
  connected: boolean;
  /** Oldest first, those before them once they are asked for. */
  messages: readonly Message[];
  /** Whether there are messages before these. */
  hasEarlier: boolean;
  /** What is being written, and by whom. Each becomes a message, or is discarded. */
  texts: readonly TextInProgress[];
  /** The current run, or the last one. */
  run: RunInfo | null;
  /** Runs that wait for the current one to end, in their order. */
  queued: readonly RunInfo[];
  /** What the run waits for because an attempt failed: a model that is away, say. */
  retrying: readonly RetryingFrame[];
  /** Open questions of the run to humans. */
  requests: readonly HumanRequest[];
  /** Why the team is unavailable, or why the last run failed. Branch on its `code`. */
  error: ApiError | ConnectionError | RunError | null;
}

const NOTHING: readonly never[] = [];

/** The state of a team of which nothing is known yet. */
export const CONNECTING: TeamState = {
  status: "connecting",
  connected: false,
  messages: NOTHING,
  hasEarlier: false,
  texts: NOTHING,
  run: null,
  queued: NOTHING,
  retrying: NOTHING,
  requests: NOTHING,
  error: null,
};

/** Makes the states of a team from its history and its stream. */
export class TeamStateBuilder {
  readonly conversation = new Conversation();
  #state = CONNECTING;
  #messagesChanged = false;
  #textsChanged = false;
  /** The cursor of the last message of the history; undefined until that is loaded. */
  last: number | undefined;
  /** The cursor before which earlier messages are; null when there are none. */
  before: number | null = null;

  get run(): RunInfo | null {
    return this.#state.run;
  }

  get queued(): readonly RunInfo[] {
    return this.#state.queued;
  }

  /** The state now; the same object until something changes. */
  state(): TeamState {
    if (this.#messagesChanged) this.#set({ messages: this.conversation.messages });
    if (this.#textsChanged) this.#set({ texts: this.conversation.texts });
    this.#messagesChanged = false;
    this.#textsChanged = false;
    return this.#state;
  }

  /** Puts a page of the history before the messages. */
  prepend({ messages, next_before }: MessagePage): void {
    this.conversation.prepend(messages);
    this.last ??= messages.at(-1)?.seq ?? 0;
    this.before = next_before;
    this.#messagesChanged = true;
    this.#set({ hasEarlier: next_before !== null });
  }

  /** @param runs as the API lists them: those that are queued first, the last one of the queue before the others */
  queue(runs: readonly RunInfo[]): void {
    const queued = runs.filter(({ status }) => status === "queued").toReversed();
    if (queued.length > 0 || this.queued.length > 0) this.#set({ queued });
  }

  connection(state: "open" | "live" | "lost"): void {
    const connected = state !== "lost";
    if (connected !== this.#state.connected) this.#set({ connected });
    if (state === "live" && this.#state.status === "connecting") {
      this.#set({ status: this.run?.status ?? "idle" });
    }
  }

  apply(item: StreamItem): void {
    switch (item.kind) {
      case "message":
        // It ends the text that it was.
        this.#messagesChanged = true;
        this.#textsChanged = true;
        this.#reached(item.message.source);
        break;
      case "retract":
        this.#messagesChanged = true;
        break;
      case "text":
        this.#textsChanged = true;
        this.#reached(item.text.source);
        break;
      case "discard":
        this.#textsChanged = true;
        break;
      case "retrying": {
        const { retrying } = item;
        const others = this.#state.retrying.filter(({ step }) => step !== retrying.step);
        this.#set({ retrying: [...others, retrying] });
        break;
      }
      case "run":
        this.#apply(item.run);
        break;
      case "result":
      case "failed":
        // The run has said so.
        break;
    }
  }

  fail(error: ApiError | ConnectionError): void {
    this.#set({ status: "unavailable", connected: false, error });
  }

  /** What an agent says shows that its model was reached. */
  #reached(source: string): void {
    const { retrying } = this.#state;
    if (retrying.length > 0)
      this.#set({ retrying: retrying.filter(({ agent }) => agent !== source) });
  }

  #apply(run: RunInfo): void {
    const others = this.queued.filter(({ id }) => id !== run.id);
    if (run.status === "queued") {
      this.#set({ queued: [...others, run] });
      return;
    }
    if (others.length < this.queued.length) this.#set({ queued: others });
    if (!this.#isCurrent(run)) return;
    const { requests } = run;
    this.#set({
      run,
      requests: requests.length === 0 ? NOTHING : requests,
      ...(run.ended_at !== null && { retrying: NOTHING }),
      error: run.status === "failed" ? new RunError(run) : null,
      // Until the rest is loaded it may be a run of the past.
      ...(this.#state.status !== "connecting" && { status: run.status }),
    });
  }

  /** Whether it is not over: a stream that catches up shows the current run first, then how earlier ones were cancelled. */
  #isCurrent({ id, started_at }: RunInfo): boolean {
    const { run } = this;
    if (run === null || run.id === id) return true;
    return started_at !== null && started_at >= (run.started_at ?? "");
  }

  #set(changes: Partial<TeamState>): void {
    this.#state = { ...this.#state, ...changes };
  }
}
