import type { MakeEncoder, StreamEncoder } from "../../../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import type { Problem } from "../../../../contract/problem.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { AgentEvent } from "../../../../core/messages/message.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { questionText } from "../../shared/question-text.ts";
import { RunProjector } from "../../shared/run-projector.ts";
import { type AgUiEvent, type Outcome, OWN, runStarted, sse } from "../wire/events.ts";
import { type AgUiOptions, agUiOptionsSchema } from "../wire/options.ts";
import { usageOf } from "../wire/event-fields.ts";
import { Activity } from "./activity.ts";
import { Ids } from "./ids.ts";
import { interruptOf } from "./interrupts.ts";
import { SharedState } from "./shared-state.ts";
import { AgentSteps } from "./steps.ts";
import { Subagents } from "./subagents.ts";
import { Texts } from "./texts.ts";
import { ClientThread } from "./client-thread.ts";
import { ToolCalls } from "./tool-calls.ts";

export const makeAgUiEncoder: MakeEncoder = (options) =>
  new AgUiEncoder(agUiOptionsSchema.parse(options));

/** Encodes a run as events of AG-UI 1.0, up to its end or to its first questions. */
export class AgUiEncoder implements StreamEncoder {
  readonly #options: AgUiOptions;
  readonly #projector: RunProjector;
  readonly #ids = new Ids();
  readonly #state: SharedState;
  readonly #subagents: Subagents;
  readonly #steps: AgentSteps;
  readonly #texts: Texts;
  readonly #calls: ToolCalls;
  readonly #activity: Activity;
  readonly #thread: ClientThread;
  /** Messages of humans whose texts are left out. */
  readonly #leftOut = new Set<string>();
  #run: RunInfo | undefined;
  /** The agent that failed. */
  #failing: string | undefined;
  #started: boolean;
  #ended = false;

  constructor(options: AgUiOptions) {
    const { continued, state } = options;
    this.#options = options;
    this.#projector = new RunProjector({
      answering: continued?.answering ?? [],
      proxies: continued?.humans ?? [],
    });
    this.#state = new SharedState(state, continued === undefined);
    this.#subagents = new Subagents(options);
    this.#steps = new AgentSteps(this.#state, this.#subagents);
    this.#texts = new Texts(this.#ids, this.#steps);
    this.#calls = new ToolCalls(this.#ids, continued);
    this.#activity = new Activity(options.activity, this.#calls);
    this.#thread = new ClientThread(options);
    this.#started = continued !== undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  encode(frame: StreamFrame): string {
    if ("id" in frame && frame.id !== undefined) this.#subagents.recorded(frame.id);
    if (frame.event === "failed") this.#failing = frame.data.agent;
    const items = this.#projector.take(frame);
    const events = frame.event === "run" ? this.#start(frame.data) : [];
    if (frame.event === "turn") this.#state.turnEnds();
    if (this.#options.raw) events.push({ type: "RAW", source: OWN, event: frame });
    const visible = items.filter((item) => !this.#isLeftOut(item));
    if (this.#texts.isContradicted(visible)) events.push(...this.#takenBack());
    for (const item of visible) if (!this.#ended) events.push(...this.#encode(item, visible));
    if (frame.event === "activity") events.push(...this.#activity.change(frame.data));
    if (frame.event === "message") this.#thread.add(frame);
    const hasHuman = visible.length < items.length && items.some(({ type }) => type === "message");
    if (hasHuman && !this.#ended && this.#thread.current() !== undefined) {
      events.push(...this.#takenBack());
    }
    return sse(events, this.#options);
  }

  /** Clients of the oldest versions do not know texts of users: they get what a human says with the next snapshot of messages. */
  #isLeftOut(item: RunItem): boolean {
    if (!this.#options.old) return false;
    if (item.type === "text_start" && item.role === "human") this.#leftOut.add(item.messageId);
    if (item.type === "message") return item.role === "human";
    const isText =
      item.type === "text_start" || item.type === "text_delta" || item.type === "text_end";
    return isText && this.#leftOut.has(item.messageId);
  }

  visibleState(state: JsonObject): string {
    return sse(this.#state.change(state), this.#options);
  }

  #start(run: RunInfo): AgUiEvent[] {
    const beginning = this.#started ? [] : [runStarted(this.#options, run)];
    this.#started = true;
    return [...beginning, ...this.#state.begin()];
  }

  /** @param items all of the same frame */
  #encode(item: RunItem, items: readonly RunItem[]): AgUiEvent[] {
    switch (item.type) {
      case "run":
        return this.#changed(item.run);
      case "text_start":
        return this.#texts.start(item, items);
      case "text_delta":
        return this.#texts.delta(item);
      case "text_end": {
        const { events, isVoid } = this.#texts.end(item, items);
        return isVoid ? [...events, ...this.#takenBack()] : events;
      }
      case "thought":
        return this.#texts.thought(item);
      case "message":
        return this.#texts.message(item, items);
      case "tool_calls":
        return [
          ...this.#steps.begin(item.source),
          ...this.#calls.made(item, this.#texts.takeThought(item.source)),
        ];
      case "tool_results":
        return [...this.#steps.begin(item.source), ...this.#calls.results(item)];
      case "event":
        return [
          ...(OF_MANAGERS.has(item.event.type) ? [] : this.#steps.begin(item.event.source)),
          { type: "CUSTOM", name: `${OWN}.${item.event.type}`, value: item.event },
        ];
      case "retract": {
        const messageIds = item.messageIds.map((id) => this.#ids.of(id));
        this.#thread.remove(item.messageIds);
        return [
          { type: "CUSTOM", name: `${OWN}.retract`, value: { messageIds } },
          ...this.#takenBack(),
        ];
      }
      case "live":
        return [];
      case "paused":
        // Another encoder may continue after the pause, and knows no steps of void texts.
        return [...this.#activity.end(), ...this.#steps.endAll(), ...this.#subagents.paused()];
      case "waiting":
        return [
          ...this.#spoken(item.run),
          ...this.#steps.endAll(),
          ...this.#subagents.waits(this.#options.interrupts ? item.run.requests : []),
          ...this.#finished(this.#questions(item.run), item.run),
        ];
      case "completed":
        return [
          ...this.#calls.unanswered(),
          ...this.#steps.endAll(),
          ...this.#subagents.completed(),
          ...this.#finished({ type: "success" }, item.run, item.result.stop_reason),
        ];
      case "cancelled":
        this.#run = item.run;
        return this.#options.old
          ? this.#failed(RUN_CANCELLED)
          : [
              ...this.#steps.endAll(),
              ...this.#subagents.failed(RUN_CANCELLED),
              ...this.#finished({ type: "cancelled" }, item.run),
            ];
      case "failed":
        return this.#failed(item.problem);
    }
  }

  /** A snapshot of the messages, without texts in progress: clients show something that is void. */
  #takenBack(): AgUiEvent[] {
    const { ends, again } = this.#texts.interrupt();
    const thread = this.#thread.current();
    if (thread === undefined) return [...ends, ...this.#failed(answerChanged(this.#run))];
    this.#ids.forget();
    this.#activity.forget();
    this.#calls.renamed(thread.calls);
    return [...ends, { type: "MESSAGES_SNAPSHOT", messages: thread.messages }, ...again()];
  }

  #changed(run: RunInfo): AgUiEvent[] {
    const before = this.#run?.status ?? "running";
    this.#run = run;
    this.#calls.asked(run);
    const { status, queue_position } = run;
    if (before === status || !(IDLE_STATUSES.has(before) || IDLE_STATUSES.has(status))) return [];
    const value = { status, ...(queue_position !== null && { queue_position }) };
    return [{ type: "CUSTOM", name: `${OWN}.run`, value }];
  }

  /** Questions to humans as texts, for clients that know no interrupts. */
  #spoken({ requests }: RunInfo): AgUiEvent[] {
    if (this.#options.interrupts) return [];
    return requests
      .filter(({ kind }) => kind !== "tool")
      .flatMap((request): AgUiEvent[] => {
        const messageId = `question-${request.id}`;
        return [
          { type: "TEXT_MESSAGE_START", messageId, role: "assistant", name: request.source },
          { type: "TEXT_MESSAGE_CONTENT", messageId, delta: questionText(request) },
          { type: "TEXT_MESSAGE_END", messageId },
        ];
      });
  }

  #questions({ requests }: RunInfo): Outcome {
    const humans = requests.filter(({ kind }) => kind !== "tool");
    if (humans.length > 0 && this.#options.interrupts) {
      const interrupts = humans.map((one) =>
        interruptOf(one, this.#calls.idOf(one.tool_call?.call_id)),
      );
      return { type: "interrupt", interrupts };
    }
    const asked = requests.filter(({ kind }) => kind === "tool");
    if (this.#options.old || asked.length === 0) return { type: "success" };
    const calls = asked.map(({ tool_call }) => tool_call?.call_id ?? "");
    return {
      type: "success",
      pendingToolCallIds: calls.map((call) => this.#calls.idOf(call) ?? call),
    };
  }

  #finished(
    outcome: Outcome,
    run: RunInfo | undefined,
    stop_reason: string | null = null,
  ): AgUiEvent[] {
    this.#ended = true;
    const { threadId, runId } = this.#options;
    return [
      ...this.#activity.end(),
      {
        type: "RUN_FINISHED",
        threadId,
        runId,
        outcome,
        ...(stop_reason !== null && { result: { stop_reason } }),
        ...this.#usage(run),
      },
    ];
  }

  #failed({ detail, code }: Pick<Problem, "detail" | "code">): AgUiEvent[] {
    this.#ended = true;
    return [
      ...this.#activity.end(),
      ...this.#steps.endAll(),
      ...this.#subagents.failed({ detail, code }, this.#failing),
      { type: "RUN_ERROR", message: detail, code, ...this.#usage(this.#run) },
    ];
  }

  #usage(run: RunInfo | undefined): Pick<Extract<AgUiEvent, { type: "RUN_ERROR" }>, "usage"> {
    const usage = usageOf(run ?? this.#run, this.#options.continued?.spent);
    return usage.length > 0 ? { usage } : {};
  }
}

const RUN_CANCELLED = { code: "run_cancelled", detail: "The run was cancelled." };

/** @param run undefined before it is known */
function answerChanged(run: RunInfo | undefined): Pick<Problem, "detail" | "code"> {
  return {
    code: "answer_changed",
    detail: `What was streamed of the run ${run?.id ?? ""} is not what was said: it is void, and the conversation is too long to be sent again. A request without new messages gets it.`,
  };
}

/** Statuses in which nothing happens, for reasons that the protocol has no word for. */
const IDLE_STATUSES: ReadonlySet<string> = new Set<RunInfo["status"]>(["queued", "paused"]);

/** Events that no message of the same source follows. */
const OF_MANAGERS: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "SelectSpeakerEvent",
  "SelectorEvent",
]);
