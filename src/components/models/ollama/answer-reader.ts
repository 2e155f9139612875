import { isJsonObject } from "../../../core/json.ts";
import type { CreateResult, TokenLogprob } from "../../../core/models/chat-completion-client.ts";
import type { Piece } from "../http/answer-formats.ts";
import { unfinished } from "../http/errors.ts";
import type { AnswerReader } from "../http/read-stream.ts";
import { CallAssembly } from "../chat/call-assembly.ts";
import { type AnsweringModel, toResult } from "../chat/reply.ts";
import { StreamedText, type StreamedTextSettings } from "../chat/streamed-text.ts";
import { type ChatAnswer, chatAnswerOf, OLLAMA } from "./wire.ts";

/** Assembles an answer of `/api/chat`, whether it comes in many lines or in one. */
export class ChatAnswerReader implements AnswerReader<CreateResult> {
  readonly #names: AnsweringModel;
  readonly #shown: StreamedText;
  readonly #toolCalls = new CallAssembly();
  readonly #logprobs: TokenLogprob[] = [];
  #last: ChatAnswer | undefined;

  constructor(names: AnsweringModel, startOver?: StreamedTextSettings["startOver"]) {
    this.#names = names;
    this.#shown = new StreamedText({ ...names, startOver });
  }

  /** Without a reason or counts, the end of the body decides: a proxy may have set `done` too early. */
  get ended(): boolean {
    const { doneReason, promptTokens, completionTokens } = this.#last ?? {};
    return [doneReason, promptTokens, completionTokens].some((field) => field !== undefined);
  }

  get hasBegun(): boolean {
    return this.#shown.hasBegun || this.#toolCalls.hasBegun;
  }

  /** The text that a line adds, with reasoning between `<think>` tags. */
  read({ value }: Piece): string {
    if (!isJsonObject(value)) return "";
    const answer = chatAnswerOf(value);
    this.#toolCalls.addWhole(answer.calls);
    for (const logprob of answer.logprobs) this.#logprobs.push(logprob);
    if (answer.done) this.#last = answer;
    return this.#shown.add(answer.thinking || null, answer.content);
  }

  end(): string {
    return this.#shown.end();
  }

  /** @throws ModelError `bad_response` when the last line has not come */
  result(): CreateResult {
    const last = this.#last;
    if (last === undefined) throw unfinished();
    const { text, reasoning } = this.#shown;
    const toolCalls = this.#toolCalls.calls;
    const { model } = this.#names;
    return toResult(
      {
        // Beside tool calls, a model explains itself only in its reasoning.
        text: toolCalls.length > 0 ? text || (reasoning ?? "") : text,
        reasoning,
        toolCalls,
        finishReason: last.doneReason,
        usage: {
          prompt_tokens: last.promptTokens ?? 0,
          completion_tokens: last.completionTokens ?? 0,
        },
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
        // https://docs.ollama.com/capabilities/tool-calling
        ...(reasoning !== null &&
          toolCalls.length > 0 && {
            troupe: { maker: OLLAMA, model, data: { thinking: reasoning } },
          }),
      },
      this.#names,
    );
  }
}
