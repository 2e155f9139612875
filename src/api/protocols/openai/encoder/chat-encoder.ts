import { argumentsTextOf } from "../../shared/call-arguments.ts";
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionMessageFunctionToolCall,
} from "openai/resources/chat/completions";
import type { CompletionUsage } from "openai/resources/completions";
import type { FormatCode, StreamEncoder } from "../../../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import type { RunInfo } from "../../../../contract/run.ts";
import type { TokenUsage } from "../../../../core/models/request-usage.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { errorOfEnd, type OpenAIError, RUN_ERROR_STATUS, runError } from "./errors.ts";
import { callId, completionId } from "../request/ids.ts";
import { AnswerBuilder } from "./answer-builder.ts";
import type { AnswerItem, End } from "./answer-item.ts";
import { type AnswerOptions, readOptions } from "./answer-options.ts";
import { type AnswerExtension, extensionOf } from "./extension.ts";
import { answeringAgent } from "./answering-agent.ts";
import { EndingText } from "./ending-text.ts";
import { dataEvent, DONE, wholeEvent } from "./sse.ts";

/** Between texts of one answer. */
const GAP = "\n\n";

type FinishReason = ChatCompletion.Choice["finish_reason"];
type ToolCall = ChatCompletionMessageFunctionToolCall;

/** The fields of a delta, with those that other servers have for reasoning. */
interface Delta extends ChatCompletionChunk.Choice.Delta {
  reasoning_content?: string;
}

/** The field `troupe` of a chunk: the speaker, an item of the run, or the fields of the complete answer. */
type ChunkExtension = { source: string } | { item: RunItem } | AnswerExtension;

/** An answer as a chat completion, or as the chunks of one. */
class ChatEncoder implements StreamEncoder {
  readonly #options: AnswerOptions;
  readonly #answer: AnswerBuilder;
  #run: RunInfo | undefined;
  #id = "";
  #created = 0;
  #content = "";
  #reasoning = "";
  readonly #items: RunItem[] = [];
  #source = "";
  /** The text of the answer that is open. */
  #text = new EndingText([]);
  /** True if the next piece begins another text of the answer. */
  #isNext = false;

  constructor(options: AnswerOptions) {
    this.#options = options;
    this.#answer = new AnswerBuilder(options, {
      isSpoken: ({ kind }) => kind !== "tool",
      inPieces: false,
    });
  }

  get ended(): boolean {
    return this.#answer.ended;
  }

  encode(frame: StreamFrame): string {
    return this.#answer
      .take(frame)
      .map((item) => this.#write(item))
      .join("");
  }

  #write(item: AnswerItem): string {
    switch (item.type) {
      case "run": {
        const first = this.#run === undefined;
        if (first) this.#begin(item.run);
        this.#run = item.run;
        return first ? this.#chunk({ role: "assistant", content: "" }) : "";
      }
      case "text_start":
        return this.#textStart(item);
      case "text_delta":
        return item.role === "answer"
          ? this.#say(this.#text.add(item.delta))
          : this.#reason(item.delta);
      case "text_end":
        return item.role === "answer" && item.text !== undefined ? this.#say(this.#text.end()) : "";
      case "other":
        this.#items.push(item.item);
        return this.#chunk({}, { item: item.item });
      case "end":
        return this.#end(item);
    }
  }

  #begin({ id: run, created_at }: RunInfo): void {
    const { team, after } = this.#options;
    this.#id = completionId({ team, run, after });
    this.#created = Math.floor(Date.parse(created_at) / 1000);
  }

  #textStart({ role, source, asks }: AnswerItem & { type: "text_start" }): string {
    this.#source = source;
    if (role === "reasoning") return this.#reasoning === "" ? "" : this.#reason(GAP);
    this.#text = new EndingText(asks ? [] : this.#options.stop);
    this.#isNext = this.#content !== "";
    return "";
  }

  #say(delta: string): string {
    if (delta === "") return "";
    const gap = this.#isNext ? GAP : "";
    this.#isNext = false;
    this.#content += gap + delta;
    return (gap === "" ? "" : this.#chunk({ content: gap })) + this.#chunk({ content: delta });
  }

  #reason(delta: string): string {
    this.#reasoning += delta;
    return this.#chunk({ reasoning_content: delta }, { source: this.#source });
  }

  #end({ end, run = this.#run, attached }: AnswerItem & { type: "end" }): string {
    if (run === undefined) return this.#fail(NO_RUN);
    const error = errorOfEnd(end, run);
    if (error !== undefined) return this.#fail(error);
    const usage = usageOf(end.type === "completed" ? end.usage : run.usage);
    const calls = end.type === "waiting" ? toolCalls(run, end) : [];
    const reason = finishReason(end, calls.length, this.#text.isCut);
    const extension = extensionOf(end, run, { attached, ignored: this.#options.ignored });
    if (this.#options.form === "whole") return this.#whole({ usage, calls, reason, extension });
    const called = calls.map((call, index) => ({ index, ...call }));
    return [
      calls.length > 0 ? this.#chunk({ tool_calls: called }) : "",
      this.#chunk({}, extension, reason),
      this.#options.usage ? dataEvent({ ...this.#head(), choices: [], usage }) : "",
      DONE,
    ].join("");
  }

  #whole({
    usage,
    calls,
    reason,
    extension,
  }: {
    usage: CompletionUsage;
    calls: ToolCall[];
    reason: FinishReason;
    extension: AnswerExtension;
  }): string {
    const message = {
      role: "assistant" as const,
      content: this.#content === "" && calls.length > 0 ? null : this.#content,
      refusal: null,
      ...(this.#reasoning !== "" && { reasoning_content: this.#reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    };
    const body: ChatCompletion & { troupe: object } = {
      ...this.#head("chat.completion"),
      choices: [{ index: 0, message, finish_reason: reason, logprobs: null }],
      usage,
      troupe: { ...extension, ...(this.#items.length > 0 && { items: this.#items }) },
    };
    return wholeEvent({ status: 200, body });
  }

  #fail(error: OpenAIError): string {
    return this.#options.form === "whole"
      ? wholeEvent({ status: RUN_ERROR_STATUS, body: { error } })
      : dataEvent({ error }) + DONE;
  }

  #chunk(delta: Delta, troupe?: ChunkExtension, finish_reason: FinishReason | null = null): string {
    if (this.#options.form === "whole") return "";
    const chunk: ChatCompletionChunk & { troupe?: ChunkExtension } = {
      ...this.#head(),
      choices: [{ index: 0, delta, finish_reason, logprobs: null }],
      ...(this.#options.usage && { usage: null }),
      ...(troupe !== undefined && { troupe }),
    };
    return dataEvent(chunk);
  }

  #head(): Head<"chat.completion.chunk">;
  #head<T extends string>(object: T): Head<T>;
  #head(object = "chat.completion.chunk"): Head<string> {
    return { id: this.#id, object, created: this.#created, model: this.#options.model };
  }
}

interface Head<T> {
  id: string;
  object: T;
  created: number;
  model: string;
}

export const chatFormat: FormatCode = {
  makeEncoder: (options) => new ChatEncoder(readOptions(options)),
  prepare: answeringAgent("response_format"),
};

const NO_RUN = runError({ code: "internal_error", detail: "The run cannot be read." });

/** @param isCut whether the answer has ended before a text of `stop` */
function finishReason(end: End, calls: number, isCut: boolean): FinishReason {
  if (end.type === "failed") return isCut ? "stop" : "length";
  return calls > 0 ? "tool_calls" : "stop";
}

function toolCalls(
  { id: run, team_id: team }: RunInfo,
  end: End & { type: "waiting" },
): ToolCall[] {
  return end.requests.flatMap(({ id: request, kind, tool_call }) => {
    if (kind !== "tool" || tool_call === undefined) return [];
    const fn = { name: tool_call.name, arguments: argumentsTextOf(tool_call) };
    return [{ id: callId({ team, run, request }), type: "function", function: fn }];
  });
}

function usageOf(usage: TokenUsage): CompletionUsage {
  const { prompt_tokens, completion_tokens, reasoning_tokens } = usage;
  const { cached_tokens, cache_write_tokens } = usage;
  const prompt = {
    ...(cached_tokens && { cached_tokens }),
    ...(cache_write_tokens && { cache_write_tokens }),
  };
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: prompt_tokens + completion_tokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(reasoning_tokens && { completion_tokens_details: { reasoning_tokens } }),
  };
}
