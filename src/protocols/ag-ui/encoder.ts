import type { MakeEncoder, StreamEncoder } from "../../contract/stream-format.ts";
import type { StreamFrame } from "../../contract/stream-frame.ts";
import type { RunInfo } from "../../contract/run.ts";
import type { AgentEvent } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import type { RunItem, TextPlace } from "../projection/run-item.ts";
import { RunProjector } from "../projection/run-projector.ts";
import { type AgUiEvent, type Outcome, OWN, PROTOCOL_VERSION, sse } from "./events.ts";
import { interruptOf } from "./interrupts.ts";
import type { AgUiOptions } from "./options.ts";
import { Progress } from "./progress.ts";
import { aboutMessage, aboutResult, aboutSource, resultId, toolCallId, usageOf } from "./told.ts";

type Item<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

export const makeAgUiEncoder: MakeEncoder = (options) =>
  new AgUiEncoder(options as unknown as AgUiOptions);

/** Tells a run as AG-UI 1.0 does, up to its end or to its first questions. */
export class AgUiEncoder implements StreamEncoder {
  readonly #options: AgUiOptions;
  readonly #projector: RunProjector;
  readonly #progress: Progress;
  /** How often an id was used. */
  readonly #uses = new Map<string, number>();
  /** The ids that clients know, by those of the team's messages. */
  readonly #ids = new Map<string, string>();
  /** Calls without results, by the ids that the models gave them. */
  readonly #calls: Map<string, string>;
  /** Those that the client makes. */
  readonly #clientCalls: Set<string>;
  /** Messages of users, which have no tool calls. */
  readonly #ofUsers = new Set<string>();
  /** Texts that turned out to be thoughts, by who thinks. */
  readonly #thoughts = new Map<string, string>();
  #run: RunInfo | undefined;
  #started: boolean;
  #ended = false;

  constructor(options: AgUiOptions) {
    const { continued, state } = options;
    this.#options = options;
    this.#projector = new RunProjector({
      answering: continued?.answering ?? [],
      proxies: continued?.humans ?? [],
    });
    this.#progress = new Progress(state);
    this.#calls = new Map(Object.entries(continued?.calls ?? {}));
    this.#clientCalls = new Set(continued?.clientCalls);
    this.#started = continued !== undefined;
  }

  get ended(): boolean {
    return this.#ended;
  }

  encode(frame: StreamFrame): string {
    const items = this.#projector.take(frame);
    const events = frame.event === "run" ? this.#start(frame.data) : [];
    if (this.#options.raw) events.push({ type: "RAW", source: OWN, event: frame });
    for (const item of items) events.push(...this.#told(item, items));
    return sse(events);
  }

  #start(run: RunInfo): AgUiEvent[] {
    if (this.#started) return [];
    this.#started = true;
    return [runStarted(this.#options, run), ...this.#progress.begin()];
  }

  /** @param items all of the same frame */
  #told(item: RunItem, items: readonly RunItem[]): AgUiEvent[] {
    switch (item.type) {
      case "run":
        return this.#changed(item.run);
      case "text_start":
        return this.#textStart(item);
      case "text_delta":
        return [
          {
            type: "TEXT_MESSAGE_CONTENT",
            messageId: this.#idOf(item.messageId),
            delta: item.delta,
          },
        ];
      case "text_end":
        return this.#textEnd(item, items);
      case "thought":
        return this.#thought(item);
      case "tool_calls":
        return this.#toolCalls(item);
      case "tool_results":
        return this.#toolResults(item);
      case "message":
        return this.#message(item, items);
      case "event":
        return [
          ...(OF_MANAGERS.has(item.event.type) ? [] : this.#progress.speaks(item.event.source)),
          { type: "CUSTOM", name: `${OWN}.${item.event.type}`, value: item.event },
        ];
      case "retract": {
        const messageIds = item.messageIds.map((id) => this.#idOf(id));
        return [{ type: "CUSTOM", name: `${OWN}.retract`, value: { messageIds } }];
      }
      case "live":
        return [];
      case "waiting":
        return this.#finished(this.#questions(item.run), item.run);
      case "completed":
        return [
          ...this.#unanswered(),
          ...this.#finished({ type: "success" }, item.run, item.result.stop_reason),
        ];
      case "cancelled":
        return this.#finished({ type: "cancelled" }, item.run);
      case "failed":
        return this.#failed(item);
    }
  }

  #changed(run: RunInfo): AgUiEvent[] {
    const before = this.#run?.status ?? "running";
    this.#run = run;
    for (const { kind, tool_call } of run.requests) {
      const call = tool_call?.call_id;
      if (kind === "tool" && call !== undefined) {
        this.#clientCalls.add(this.#calls.get(call) ?? call);
      }
    }
    const { status, queue_position } = run;
    if (before === status || !(RESTS.has(before) || RESTS.has(status))) return [];
    const value = { status, ...(queue_position !== null && { queue_position }) };
    return [{ type: "CUSTOM", name: `${OWN}.run`, value }];
  }

  #textStart({ messageId, source, role }: Item<"text_start">): AgUiEvent[] {
    const told = this.#newId(messageId);
    if (role === "human") this.#ofUsers.add(told);
    return [
      ...this.#progress.speaks(source),
      {
        type: "TEXT_MESSAGE_START",
        messageId: told,
        role: role === "human" ? "user" : "assistant",
        ...(source !== "user" && { name: source }),
      },
    ];
  }

  #textEnd(text: Item<"text_end">, items: readonly RunItem[]): AgUiEvent[] {
    const messageId = this.#idOf(text.messageId);
    const end = { type: "TEXT_MESSAGE_END", messageId } as const;
    const said = items.find((item) => item.type === "message");
    if (!text.void) {
      return [
        said !== undefined && isOf(text, said) ? { ...end, ...aboutMessage(said.message) } : end,
      ];
    }
    const thought = items.some((item) => item.type === "thought" && isThought(text, item));
    if (thought && !this.#ofUsers.has(messageId)) {
      this.#thoughts.set(text.source, messageId);
      return [{ ...end, metadata: { [OWN]: { type: "ThoughtEvent" } } }];
    }
    return [{ ...end, metadata: { [OWN]: { void: true } } }];
  }

  #thought({ id, source, content }: Item<"thought">): AgUiEvent[] {
    // Clients have it as a text.
    if (this.#thoughts.get(source) === this.#idOf(id)) return [];
    const messageId = this.#newId(id);
    return [
      ...this.#progress.speaks(source),
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning", ...aboutSource(source) },
      { type: "REASONING_MESSAGE_CONTENT", messageId, delta: content },
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  #toolCalls({ id, source, calls }: Item<"tool_calls">): AgUiEvent[] {
    const own = this.#newId(id);
    const parentMessageId = this.#thoughts.get(source) ?? own;
    this.#thoughts.delete(source);
    return [
      ...this.#progress.speaks(source),
      ...calls.flatMap((call): AgUiEvent[] => {
        const told = this.#newId(toolCallId(own, call.id));
        this.#calls.set(call.id, told);
        return [
          {
            type: "TOOL_CALL_START",
            toolCallId: told,
            toolCallName: call.name,
            parentMessageId,
            ...aboutSource(source),
          },
          { type: "TOOL_CALL_ARGS", toolCallId: told, delta: call.arguments },
          { type: "TOOL_CALL_END", toolCallId: told },
        ];
      }),
    ];
  }

  #toolResults({ id, source, results }: Item<"tool_results">): AgUiEvent[] {
    return [
      ...this.#progress.speaks(source),
      ...results.flatMap((result, index): AgUiEvent[] => {
        const call = this.#calls.get(result.call_id) ?? result.call_id;
        this.#calls.delete(result.call_id);
        // The client has made the call, and has its result.
        if (this.#clientCalls.has(call)) return [];
        return [
          {
            type: "TOOL_CALL_RESULT",
            messageId: this.#newId(resultId(id, index)),
            toolCallId: call,
            content: result.content,
            role: "tool",
            ...aboutResult(result),
          },
        ];
      }),
    ];
  }

  #message(item: Item<"message">, items: readonly RunItem[]): AgUiEvent[] {
    const { message, role } = item;
    const { id: messageId, source } = message;
    this.#thoughts.delete(source);
    const events: AgUiEvent[] = [];
    if (!items.some((text) => text.type === "text_end" && !text.void && isOf(text, item))) {
      // Its text is empty.
      events.push(...this.#textStart({ type: "text_start", messageId, attempt: 1, source, role }), {
        type: "TEXT_MESSAGE_END",
        messageId: this.#idOf(messageId),
        ...aboutMessage(message),
      });
    }
    return [...events, ...this.#progress.hasSpoken(source)];
  }

  #questions({ requests }: RunInfo): Outcome {
    const idOf = (call: string | undefined): string | undefined =>
      call === undefined ? undefined : this.#calls.get(call);
    const humans = requests.filter(({ kind }) => kind !== "tool");
    if (humans.length > 0) {
      const interrupts = humans.map((one) => interruptOf(one, idOf(one.tool_call?.call_id)));
      return { type: "interrupt", interrupts };
    }
    const calls = requests.map(({ tool_call }) => tool_call?.call_id ?? "");
    return { type: "success", pendingToolCallIds: calls.map((call) => idOf(call) ?? call) };
  }

  /** Calls of turns that were given up: without results, clients would take them for their own. */
  #unanswered(): AgUiEvent[] {
    return [...this.#calls.values()]
      .filter((call) => !this.#clientCalls.has(call))
      .map((call) => ({
        type: "TOOL_CALL_RESULT",
        messageId: this.#newId(`${call}:void`),
        toolCallId: call,
        content: "",
        role: "tool",
        metadata: { [OWN]: { void: true } },
      }));
  }

  #finished(
    outcome: Outcome,
    run: RunInfo | undefined,
    stop_reason: string | null = null,
  ): AgUiEvent[] {
    this.#ended = true;
    const { threadId, runId } = this.#options;
    return [
      ...this.#progress.end(),
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

  #failed({ problem }: Item<"failed">): AgUiEvent[] {
    this.#ended = true;
    const { detail, code } = problem;
    return [
      ...this.#progress.end(),
      { type: "RUN_ERROR", message: detail, code, ...this.#usage(this.#run) },
    ];
  }

  #usage(run: RunInfo | undefined): Pick<Extract<AgUiEvent, { type: "RUN_ERROR" }>, "usage"> {
    const usage = usageOf(run ?? this.#run, this.#options.continued?.spent);
    return usage.length > 0 ? { usage } : {};
  }

  /** The id that clients know something by: its own, unless something had it before, which was void. */
  #newId(id: string): string {
    const uses = (this.#uses.get(id) ?? 0) + 1;
    this.#uses.set(id, uses);
    const told = uses === 1 ? id : `${id}~${uses}`;
    this.#ids.set(id, told);
    return told;
  }

  #idOf(id: string): string {
    return this.#ids.get(id) ?? id;
  }
}

/** The first event of a run. @param run undefined where none is asked for */
export function runStarted(
  { threadId, runId, dropped }: Pick<AgUiOptions, "threadId" | "runId" | "dropped">,
  run: RunInfo | undefined,
): AgUiEvent {
  const about = {
    ...(run !== undefined && { team_id: run.team_id, run_id: run.id }),
    ...(dropped.length > 0 && { dropped }),
  };
  return {
    type: "RUN_STARTED",
    threadId,
    runId,
    protocolVersion: PROTOCOL_VERSION,
    metadata: { [OWN]: about },
  };
}

/** Statuses in which nothing happens, for reasons that the protocol has no word for. */
const RESTS: ReadonlySet<string> = new Set<RunInfo["status"]>(["queued", "paused"]);

/** Events that no message of the same source follows. */
const OF_MANAGERS: ReadonlySet<string> = new Set<AgentEvent["type"]>([
  "SelectSpeakerEvent",
  "SelectorEvent",
]);

function isOf({ source, content }: Item<"text_end">, { message }: Item<"message">): boolean {
  return source === message.source && content === toText(message);
}

function isThought(
  { messageId, content }: TextPlace & { content: string },
  thought: Item<"thought">,
): boolean {
  return messageId === thought.id && content === thought.content;
}
