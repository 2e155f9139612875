import type { CreateResult, TokenLogprob } from "../../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../../core/models/llm-messages.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import type { ChunkReader } from "../http/read-stream.ts";
import { type ModelNames, newCallId, toResult } from "../chat/reply.ts";
import { StreamedThought } from "../chat/thought.ts";
import { type ChatAnswer, OLLAMA } from "./wire.ts";

/** Assembles an answer of `/api/chat`, whether it comes in many chunks or in one. */
export class AnswerReader implements ChunkReader<ChatAnswer, CreateResult> {
  readonly #names: ModelNames;
  readonly #thought = new StreamedThought();
  readonly #toolCalls: FunctionCall[] = [];
  readonly #logprobs: TokenLogprob[] = [];
  #text = "";
  #last: ChatAnswer | undefined;

  constructor(names: ModelNames) {
    this.#names = names;
  }

  /** The text that a chunk adds, with reasoning between `<think>` tags. */
  read(chunk: ChatAnswer): string {
    const { message, logprobs } = chunk;
    for (const call of message?.tool_calls ?? []) this.#toolCalls.push(functionCall(call));
    for (const logprob of logprobs ?? []) this.#logprobs.push(tokenLogprob(logprob));
    const piece = message?.content ?? "";
    this.#text += piece;
    if (chunk.done === true) this.#last = chunk;
    return this.#thought.add(message?.thinking || null) + piece;
  }

  /** @throws ModelError `bad_response` when the last chunk has not come */
  result(): CreateResult {
    const last = this.#last;
    if (last === undefined)
      throw new ModelError("bad_response", "The model server's answer ended before the reply did");
    const reasoning = this.#thought.text;
    const { model, family } = this.#names;
    return toResult(
      {
        // Beside tool calls, a model explains itself only in its reasoning.
        text: this.#toolCalls.length > 0 ? this.#text || (reasoning ?? "") : this.#text,
        reasoning,
        toolCalls: this.#toolCalls,
        finishReason: last.done_reason,
        usage: {
          prompt_tokens: last.prompt_eval_count ?? 0,
          completion_tokens: last.eval_count ?? 0,
        },
        logprobs: this.#logprobs.length > 0 ? this.#logprobs : null,
        // https://docs.ollama.com/capabilities/tool-calling
        ...(reasoning !== null &&
          this.#toolCalls.length > 0 && {
            troupe: { maker: OLLAMA, model, data: { thinking: reasoning } },
          }),
      },
      family,
    );
  }
}

type ToolCall = NonNullable<NonNullable<ChatAnswer["message"]>["tool_calls"]>[number];

function functionCall({ id, function: { name, arguments: args } }: ToolCall): FunctionCall {
  return {
    // Older servers provide no id.
    id: id || newCallId(),
    name,
    arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}),
  };
}

function tokenLogprob(given: NonNullable<ChatAnswer["logprobs"]>[number]): TokenLogprob {
  return {
    token: given.token,
    logprob: given.logprob,
    bytes: given.bytes ?? null,
    top_logprobs:
      given.top_logprobs?.map(({ logprob, bytes }) => ({ logprob, bytes: bytes ?? null })) ?? null,
  };
}
