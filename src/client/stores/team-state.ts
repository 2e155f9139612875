import type { Message } from "../../core/messages/message.ts";
import { Conversation, type StreamItem, type TextInProgress } from "../teams/conversation.ts";
import { type ApiError, type ConnectionError, RunError } from "../http/errors.ts";
import type { ActivityFrame, RetryingFrame } from "../../contract/stream/stream-frame.ts";
import type { HumanRequest, MessagePage, RunInfo, TurnInfo } from "../http/wire.ts";

/** A team as a page shows it. Parts that do not change from one state to the next stay the same objects. */
export interface TeamState {
  /**
   * The status of the current or last run; `idle` before the first. `connecting` until the team is loaded; `unavailable` if
   * loading fails, see `error`.
   */
  status: "connecting" | "unavailable" | "idle" | RunInfo["status"];
  /** False while the connection is lost and no changes arrive. */
  connected: boolean;
  /** Oldest first. Call `loadEarlier` for the messages before these. */
  messages: readonly Message[];
  /** True if there are messages before these. */
  hasEarlier: boolean;
  /** Texts in progress. Each becomes a message or is discarded. */
  texts: readonly TextInProgress[];
  /** The current or last run. */
  run: RunInfo | null;
  /** Queued runs, in the order in which they will start. */
  queued: readonly RunInfo[];
  /** A failed attempt that will be repeated, for example a call of a model that cannot be reached. */
  retrying: readonly RetryingFrame[];
  /** The steps under way: calls of models and tools, and what waits to be tried again. Null while there are none. */
  activity: ActivityFrame | null;
  /** The last turns that were finished while the store was connected, oldest first; `TeamClient.turns` has all of them. */
  turns: readonly TurnInfo[];
  /** Open questions of the run to humans. */
  requests: readonly HumanRequest[];
  /** Why the team is unavailable, or why the last run failed. Branch on its `code`. */
  error: ApiError | ConnectionError | RunError | null;
}

const NOTHING: readonly never[] = [];
const MOST_TURNS = 100;

/** The state of a team before it is loaded. */
export const CONNECTING: TeamState = {
  status: "connecting",
  connected: false,
  messages: NOTHING,
  hasEarlier: false,
  texts: NOTHING,
  run: null,
  queued: NOTHING,
  retrying: NOTHING,
  activity: null,
  turns: NOTHING,
  requests: NOTHING,
  error: null,
};

/** Derives the states of a team from its history and its stream. */
export class TeamStateBuilder {
  readonly conversation = new Conversation();
  #state = CONNECTING;
  #messagesChanged = false;
  #textsChanged = false;
  /** The cursor of the last message of the history; undefined until the history is loaded. */
  last: number | undefined;
  /** The cursor of the first message; null if there are no earlier ones. */
  before: number | null = null;

  get run(): RunInfo | null {
    return this.#state.run;
  }

  get queued(): readonly RunInfo[] {
    return this.#state.queued;
  }

  /** The current state; the same object until something changes. */
  state(): TeamState {
    if (this.#messagesChanged) this.#set({ messages: this.conversation.messages });
    if (this.#textsChanged) this.#set({ texts: this.conversation.texts });
    this.#messagesChanged = false;
    this.#textsChanged = false;
    return this.#state;
  }

  /** Inserts a page of the history before the messages. */
  prepend({ messages, next_before }: MessagePage): void {
    this.conversation.prepend(messages);
    this.last ??= messages.at(-1)?.seq ?? 0;
    this.before = next_before;
    this.#messagesChanged = true;
    this.#set({ hasEarlier: next_before !== null });
  }

  /** @param runs as the API lists them: queued runs first, the last one of the queue on top */
  queue(runs: readonly RunInfo[]): void {
    const queued = runs.filter(({ status }) => status === "queued").toReversed();
    if (queued.length > 0 || this.queued.length > 0) this.#set({ queued });
  }

  connection(state: "open" | "live" | "lost"): void {
    const connected = state !== "lost";
    // The server shows what is under way again.
    if (!connected) this.#set({ activity: null });
    if (connected !== this.#state.connected) this.#set({ connected });
    if (state === "live" && this.#state.status === "connecting") {
      this.#set({ status: this.run?.status ?? "idle" });
    }
  }

  apply(item: StreamItem): void {
    switch (item.kind) {
      case "message":
        // The message replaces its text in progress.
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
      case "activity":
        this.#set({ activity: item.activity.steps.length === 0 ? null : item.activity });
        break;
      case "turn": {
        const { run: progress, ...turn } = item.turn;
        const { run } = this;
        this.#set({
          turns: [...this.#state.turns, turn].slice(-MOST_TURNS),
          ...(run?.id === progress.id && { run: { ...run, ...progress } }),
        });
        break;
      }
      case "run":
        this.#apply(item.run);
        break;
      case "result":
      case "failed":
        // The run's own frame has reported it.
        break;
    }
  }

  fail(error: ApiError | ConnectionError): void {
    this.#set({ status: "unavailable", connected: false, error });
  }

  /** A message of an agent shows that its model was reached. */
  #reached(source: string): void {
    const { retrying } = this.#state;
    if (retrying.length > 0)
      this.#set({ retrying: retrying.filter(({ agent }) => agent !== source) });
  }

  #apply(run: RunInfo): void {
    const others = this.queued.filter(({ id }) => id !== run.id);
    if (run.status === "queued") {
      const isKnown = others.length < this.queued.length;
      // One whose task has changed keeps its place.
      const changed = this.queued.map((one) => (one.id === run.id ? run : one));
      this.#set({ queued: isKnown ? changed : [...others, run] });
      return;
    }
    if (others.length < this.queued.length) this.#set({ queued: others });
    if (!this.#isCurrent(run)) return;
    const { requests } = run;
    const isBusy = run.status === "running" && run.id === this.run?.id;
    this.#set({
      run,
      requests: requests.length === 0 ? NOTHING : requests,
      ...(run.ended_at !== null && { retrying: NOTHING }),
      ...(!isBusy && { activity: null }),
      error: run.status === "failed" ? new RunError(run) : null,
      // Until everything is loaded, it may be an earlier run.
      ...(this.#state.status !== "connecting" && { status: run.status }),
    });
  }

  /**
   * True if the run is active. A stream that catches up shows the current run first, then how earlier ones were cancelled.
   */
  #isCurrent({ id, started_at }: RunInfo): boolean {
    const { run } = this;
    if (run === null || run.id === id) return true;
    return started_at !== null && started_at >= (run.started_at ?? "");
  }

  #set(changes: Partial<TeamState>): void {
    this.#state = { ...this.#state, ...changes };
  }
}
