import type { StreamEncoder } from "../../../../contract/stream/stream-format.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { ChatMessage } from "../../../../core/messages/message.ts";
import { toText } from "../../../../core/messages/views.ts";
import { endsTexts, type RunItem, type TextPlace } from "../../shared/run-item.ts";
import { RunProjector } from "../../shared/run-projector.ts";
import { CallWriter } from "./call-writer.ts";
import { endMetadata, runMetadata } from "./chunk.ts";
import { eventPart, messagePart, steeringPart } from "./data-parts.ts";
import { type ChatStreamOptions, streamOptionsSchema } from "./format.ts";
import { keyOf, MessageWriter, metadataOf } from "./message-writer.ts";
import { problemText } from "./refusal.ts";

type ItemOf<Type extends RunItem["type"]> = Extract<RunItem, { type: Type }>;

export function makeChatEncoder(options: JsonObject): StreamEncoder {
  return new ChatEncoder(streamOptionsSchema.parse(options));
}

/** Writes one UI message of the AI SDK. */
class ChatEncoder implements StreamEncoder {
  readonly #options: ChatStreamOptions;
  readonly #projector: RunProjector;
  readonly #writer = new MessageWriter();
  readonly #calls: CallWriter;
  /** Questions for input that have no answer yet, by the agents that asked them. */
  readonly #inputs = new Map<string, string>();
  /** Texts that are not written: those of humans, which the page has, and those written as parts. */
  readonly #unwritten = new Set<string>();
  /** The thought that the text of this frame turned out to be. */
  #shownThought: string | undefined;
  /** The text of this frame that begins with its thought. */
  #thinking: string | undefined;
  /** During a replay, the text of the last message, until all recorded frames were read. */
  #pending: string | undefined;
  #run: RunInfo | undefined;
  #messageId: string | undefined;
  #started = false;
  #live = false;
  #ended = false;

  constructor(options: ChatStreamOptions) {
    const { part, message, answering = [], calls = [], own = [] } = options;
    this.#options = options;
    this.#projector = new RunProjector({ answering });
    this.#calls = new CallWriter(this.#writer, options);
    this.#messageId = message;
    if (part === "replay") this.#pending = "";
    for (const id of calls) this.#writer.calls.restore(id, own.includes(id));
    if (part === "rest") this.#writer.continueStep();
  }

  get ended(): boolean {
    return this.#ended;
  }

  encode(frame: StreamFrame): string {
    const items = this.#projector.take(frame);
    this.#shownThought = undefined;
    this.#thinking = undefined;
    if (items.length > 1) this.#lookAhead(items);
    for (const item of items) this.#item(item, items);
    const out = this.#writer.take();
    if (this.#pending === undefined) return out;
    this.#pending += out;
    if (!this.#live && !this.#ended) return "";
    const pending = this.#pending;
    this.#pending = undefined;
    return pending;
  }

  /** @param items those of its frame */
  #item(item: RunItem, items: readonly RunItem[]): void {
    if (item.type !== "run") this.#start();
    if (endsTexts(item)) this.#writer.giveUpAnswers();
    switch (item.type) {
      case "run":
        return this.#changed(item.run);
      case "text_start":
        return this.#textStart(item, items);
      case "text_delta":
        if (!this.#isUnwritten(item)) this.#writer.grow(item);
        return;
      case "text_end":
        if (item.messageId === this.#thinking) return this.#writer.keepAnswer(item);
        return this.#writer.endText(item, item.messageId === this.#shownThought);
      case "thought":
        if (item.id !== this.#shownThought && this.#thinking === undefined)
          this.#writer.thought(item);
        return;
      case "tool_calls":
        this.#writer.giveUpAnswers(item.source);
        for (const call of item.calls) this.#calls.call(item, call);
        return;
      case "tool_results":
        for (const result of item.results) this.#calls.result(item.source, result);
        return this.#writer.endStepIfDone();
      case "message":
        if (item.role === "human") return this.#human(item.message);
        return this.#said(item.message, items);
      case "event":
        this.#writer.giveUpAnswers(item.event.source);
        if (item.event.type === "UserInputRequestedEvent")
          this.#inputs.set(item.event.source, item.event.request_id);
        return this.#writer.data(eventPart(item.event));
      case "retract":
        return this.#retracted(item.messageIds);
      case "live":
        return this.#caughtUp();
      case "paused":
        // Another encoder may continue after the pause, and knows no step of void texts.
        return this.#writer.endStepIfDone();
      case "waiting":
        return this.#waiting(item.run);
      case "completed":
        return this.#completed(item);
      case "cancelled":
        return this.#cancelled(item.run);
      case "failed":
        return this.#failed(item);
    }
  }

  #textStart(item: ItemOf<"text_start">, items: readonly RunItem[]): void {
    if (this.#isUnwritten(item)) return;
    const { source } = item;
    const isWhole = items.some((one) => one.type === "message" && one.message.source === source);
    if (isWhole) return this.#writer.openMessage(item);
    this.#writer.giveUpAnswers(source);
    this.#writer.openText(item);
  }

  /** Notes about a text what the items after it in its frame show. */
  #lookAhead(items: readonly RunItem[]): void {
    const isImages = items.some(
      (item) => item.type === "message" && item.message.type === "MultiModalMessage",
    );
    const thought = items.find((item) => item.type === "thought");
    for (const item of items) {
      if (item.type === "text_start" && (item.role === "human" || isImages))
        this.#unwritten.add(keyOf(item));
      if (item.type !== "text_end") continue;
      if (thought?.source === item.source && this.#writer.thinks(item.messageId))
        this.#thinking = item.messageId;
      if (item.messageId !== thought?.id) continue;
      if (item.content === thought.content && this.#writer.hasText(thought.id))
        this.#shownThought = thought.id;
    }
  }

  #isUnwritten(place: TextPlace): boolean {
    return this.#unwritten.size > 0 && this.#unwritten.has(keyOf(place));
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    const { part, decided = {} } = this.#options;
    const messageId = this.#messageId ?? this.#run?.id;
    this.#writer.write({
      type: "start",
      // A continued message keeps its id.
      ...(part !== "rest" && messageId !== undefined && { messageId }),
      ...(this.#run && { messageMetadata: runMetadata(this.#run) }),
    });
    for (const [toolCallId, approved] of Object.entries(decided)) {
      if (!approved) this.#writer.write({ type: "tool-output-denied", toolCallId });
      else this.#writer.output(toolCallId, { approved });
    }
    if (part === "rest") this.#writer.endStepIfDone();
  }

  #changed(run: RunInfo): void {
    const before = this.#run;
    this.#run = run;
    if (!this.#started) this.#start();
    else if (before?.status !== run.status || before.queue_position !== run.queue_position)
      this.#writer.write({ type: "message-metadata", messageMetadata: runMetadata(run) });
    if (this.#live) this.#calls.ask(run.requests);
  }

  #caughtUp(): void {
    this.#live = true;
    if (this.#run !== undefined) {
      this.#noteInputs(this.#run);
      this.#calls.ask(this.#run.requests);
    }
    if (this.#options.now === true) this.#done();
  }

  /** Questions that were open before the stream, which another person may answer. */
  #noteInputs({ requests }: RunInfo): void {
    for (const { id, kind, source } of requests) {
      if (kind === "input" && this.#options.answering?.includes(id) !== true)
        this.#inputs.set(source, id);
    }
  }

  #said(message: ChatMessage, items: readonly RunItem[]): void {
    const { id, source } = message;
    if (message.type === "MultiModalMessage") {
      const hasText = items.some(({ type }) => type === "text_end");
      const isShown = hasText && !items.some(({ type }) => type === "text_start");
      const content = isShown
        ? message.content.filter((one) => typeof one !== "string")
        : message.content;
      this.#writer.parts(content, metadataOf({ messageId: id, source }));
    }
    this.#writer.giveUpAnswers(source);
    const part = messagePart(message);
    if (part !== undefined) this.#writer.data(part);
    this.#writer.endStepIfDone();
  }

  /** An answer that the page does not have, or the end of what is replayed before the last message; not the task. */
  #human(message: ChatMessage): void {
    if (message.metadata["steering"] === "true") return this.#steered(message);
    const request = this.#inputs.get(message.source);
    this.#inputs.delete(message.source);
    if (request === undefined) return;
    if (this.#pending !== undefined && !this.#live) return this.#startMessage(request);
    this.#writer.data({
      type: "data-answer",
      id: request,
      data: { source: message.source, content: toText(message), message: message.id },
    });
  }

  /** A message into the run. What follows is the next message for a page that loads the run. */
  #steered(message: ChatMessage): void {
    if (this.#pending !== undefined && !this.#live) this.#startMessage(message.id);
    else this.#writer.data(steeringPart(message));
  }

  #startMessage(messageId: string): void {
    this.#pending = "";
    this.#writer.clear();
    this.#started = false;
    this.#messageId = messageId;
    this.#start();
  }

  #retracted(messageIds: readonly string[]): void {
    this.#calls.retract(messageIds);
    this.#writer.data({ type: "data-retract", data: { messages: [...messageIds] } });
    this.#writer.endStepIfDone();
  }

  #waiting(run: RunInfo): void {
    this.#calls.ask(run.requests);
    this.#calls.answerRest(run.requests);
    this.#writer.endStep();
    const forClient = run.requests.some(({ kind }) => kind !== "input");
    this.#writer.write({
      type: "finish",
      finishReason: forClient ? "tool-calls" : "other",
      messageMetadata: endMetadata(run, run.usage),
    });
    this.#done();
  }

  #completed({ result, run = this.#run }: ItemOf<"completed">): void {
    this.#calls.complete("The run was completed before there was a result.");
    this.#writer.write({
      type: "finish",
      finishReason: "stop",
      ...(run && {
        messageMetadata: endMetadata({ ...run, ...result, status: "completed" }, result.usage),
      }),
    });
    this.#done();
  }

  #cancelled(run: RunInfo): void {
    this.#calls.complete("The run was cancelled.");
    this.#writer.write({ type: "message-metadata", messageMetadata: endMetadata(run, run.usage) });
    this.#writer.write({ type: "abort", reason: "The run was cancelled." });
    this.#done();
  }

  #failed({ problem }: ItemOf<"failed">): void {
    this.#calls.complete("The run failed.");
    const { status, code, detail, errors = [] } = problem;
    this.#writer.write({ type: "data-problem", data: { status, code, detail, errors } });
    if (this.#run !== undefined) {
      const messageMetadata = endMetadata({ ...this.#run, status: "failed" });
      this.#writer.write({ type: "message-metadata", messageMetadata });
    }
    this.#writer.write({ type: "error", errorText: problemText(problem) });
    this.#writer.write({ type: "finish", finishReason: "error" });
    this.#done();
  }

  #done(): void {
    this.#writer.done();
    this.#ended = true;
  }
}
