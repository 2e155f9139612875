import type {
  ResponseOutputMessage,
  ResponseReasoningItem,
} from "openai/resources/responses/responses";
import type { RunInfo } from "../../../../contract/run.ts";
import type { FormatCode, StreamEncoder } from "../../../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import type { PiecePlace, TextPieces } from "../../../../contract/stream/text-pieces.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { errorOfEnd, RUN_ERROR_STATUS } from "./errors.ts";
import { AnswerBuilder } from "./answer-builder.ts";
import type { AnswerItem, End } from "./answer-item.ts";
import { type AnswerOptions, readOptions } from "./answer-options.ts";
import { answeringAgent } from "./answering-agent.ts";
import { type ResponseBody, responseBody } from "./response-body.ts";
import { outputText, reasoningText, ResponseOutput, type ResponseText } from "./response-output.ts";
import { ResponseTools } from "./response-tools.ts";
import { wholeEvent } from "./sse.ts";

/** Numbers of the events before the first text: created, queued, in progress. */
const OPENING = 3;

/** An answer as a response of the Responses API, or as its events. */
class ResponseEncoder implements StreamEncoder {
  readonly #options: AnswerOptions;
  readonly #answer: AnswerBuilder;
  readonly #output: ResponseOutput;
  readonly #tools: ResponseTools;
  #run: RunInfo | undefined;
  #inProgress = false;
  /** Texts that are open, by their ids. */
  readonly #texts = new Map<string, ResponseText>();

  constructor(options: AnswerOptions) {
    this.#options = options;
    // Approvals are items of their own.
    this.#answer = new AnswerBuilder(options, {
      isSpoken: ({ kind }) => kind === "input",
      inPieces: true,
    });
    this.#output = new ResponseOutput(options);
    this.#tools = new ResponseTools(this.#output, options.tools);
  }

  get ended(): boolean {
    return this.#answer.ended;
  }

  encode(frame: StreamFrame, pieces?: TextPieces): string {
    let cursor = "id" in frame && frame.id !== undefined ? Number(frame.id) : undefined;
    let text = "";
    for (const item of this.#answer.take(frame, pieces)) {
      // A text streams before the message that has it is recorded.
      const streams = item.type === "text_start" || item.type === "text_delta";
      if (cursor !== undefined && !streams) {
        this.#output.sequence.advance(cursor);
        cursor = undefined;
      }
      text += this.#write(item);
    }
    if (cursor !== undefined) this.#output.sequence.advance(cursor);
    return text;
  }

  #write(item: AnswerItem): string {
    switch (item.type) {
      case "run":
        return this.#changed(item.run);
      case "text_start":
        return this.#textStart(item);
      case "text_delta":
        return this.#textDelta(item);
      case "text_end":
        return this.#textEnd(item);
      case "other":
        return this.#other(item.item);
      case "end":
        return this.#end(item);
    }
  }

  #changed(run: RunInfo): string {
    const first = this.#run === undefined;
    this.#run = run;
    const response = responseBody(this.#options, run, [], undefined);
    let text = first ? this.#output.event({ type: "response.created", response }) : "";
    if (run.status === "queued") {
      return first ? text + this.#output.event({ type: "response.queued", response }) : text;
    }
    if (!this.#inProgress) {
      this.#inProgress = true;
      this.#output.sequence.reserve(OPENING - 1);
      text += this.#output.event({ type: "response.in_progress", response });
    }
    return text;
  }

  #textStart({ id, role, place }: AnswerItem & { type: "text_start" }): string {
    const item: ResponseOutputMessage | ResponseReasoningItem =
      role === "answer"
        ? {
            // A model that repeats its text continues in the item.
            id: this.#output.newId(`msg_${id}`),
            type: "message",
            role: "assistant",
            status: "in_progress",
            content: [],
          }
        : {
            id: this.#output.newId(`rs_${id}${attemptOf(place)}`),
            type: "reasoning",
            status: "in_progress",
            summary: [],
            content: [],
          };
    const { text, events } = this.#output.begin(item, place);
    this.#texts.set(id, text);
    return events;
  }

  #textDelta({ id, delta, place }: AnswerItem & { type: "text_delta" }): string {
    const text = this.#texts.get(id);
    return text === undefined ? "" : this.#output.delta(text, delta, place);
  }

  #textEnd({ id, role, text, final }: AnswerItem & { type: "text_end" }): string {
    const open = this.#texts.get(id);
    if (open === undefined) return "";
    this.#texts.delete(id);
    if (text === undefined) {
      const { item, index } = open;
      return this.#output.giveUp({ item: { ...item, status: "incomplete" }, index });
    }
    const rest = this.#output.rest(open);
    const { item, index } = open;
    const textAddress = { item_id: item.id, output_index: index, content_index: 0 };
    if (role === "answer") {
      const part = outputText(text);
      const done: ResponseOutputMessage = {
        id: item.id,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [part],
        phase: final ? "final_answer" : "commentary",
      };
      return (
        rest +
        this.#output.event({
          type: "response.output_text.done",
          ...textAddress,
          text,
          logprobs: [],
        }) +
        this.#output.part("done", open, part) +
        this.#output.done({ item: done, index })
      );
    }
    const part = reasoningText(text);
    const done: ResponseReasoningItem = {
      id: item.id,
      type: "reasoning",
      status: "completed",
      summary: [],
      content: [part],
    };
    return (
      this.#output.event({ type: "response.reasoning_text.done", ...textAddress, text }) +
      this.#output.part("done", open, part) +
      this.#output.done({ item: done, index })
    );
  }

  /** The API has nothing for items other than calls of tools. */
  #other(item: RunItem): string {
    switch (item.type) {
      case "tool_calls":
        return this.#tools.calls(item);
      case "tool_results":
        return this.#tools.results(item);
      default:
        return "";
    }
  }

  #end({ end, run = this.#run, attached }: AnswerItem & { type: "end" }): string {
    if (run === undefined) return "";
    this.#run = run;
    const calls = this.#tools.giveUp();
    const texts = [...this.#texts.values()].map(({ item, index }) =>
      this.#output.giveUp({ item: { ...item, status: "incomplete" }, index }),
    );
    const asked =
      end.type === "waiting" ? end.requests.map((one) => this.#tools.ask(run, one)) : [];
    const body = responseBody(this.#options, run, this.#output.valid, end, attached);
    if (this.#options.form === "whole") {
      // A caller that asks for the present state gets that.
      const error = this.#options.now ? undefined : errorOfEnd(end, run);
      return error === undefined
        ? wholeEvent({ status: 200, body })
        : wholeEvent({ status: RUN_ERROR_STATUS, body: { error, troupe: body.troupe } });
    }
    return [calls, ...texts, ...asked, this.#terminal(end, body)].join("");
  }

  #terminal(end: End, response: ResponseBody): string {
    switch (end.type) {
      case "completed":
      case "waiting":
        if (this.#output.isLost) return this.#error({ type: "changed" });
        return this.#output.event({ type: "response.completed", response });
      case "failed":
        return end.problem.code === "token_limit"
          ? this.#output.event({ type: "response.incomplete", response })
          : this.#output.event({ type: "response.failed", response });
      case "cancelled":
        return this.#output.event({ type: "response.incomplete", response });
      case "paused":
      case "changed":
        return this.#error(end);
      case "unfinished":
        return "";
    }
  }

  #error(end: End): string {
    const error = this.#run && errorOfEnd(end, this.#run);
    return error === undefined ? "" : this.#output.error(error);
  }
}

/** Distinguishes the id of a thought from that of an earlier stream, which broke off at this place. */
function attemptOf(place: PiecePlace | undefined): string {
  if (place === undefined || (place.restarts === 0 && place.taken === 0)) return "";
  return `_${place.restarts}_${place.taken}`;
}

export const responseFormat: FormatCode = {
  makeEncoder: (options) => new ResponseEncoder(readOptions(options)),
  prepare: answeringAgent("text.format"),
};
