import type { EventSourceMessage } from "eventsource-parser";
import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import { newCallId } from "../chat/reply.ts";
import { answerError, errorText } from "../http/errors.ts";
import type { ChunkReader } from "../http/read-stream.ts";
import type { ReadEvent } from "../http/server-events.ts";
import { readCompletion, type Served } from "../openai/chat-completions/read-completion.ts";
import type { CompletionEvent } from "../openai/server-events.ts";
import { StreamReader } from "../openai/chat-completions/stream-reader.ts";
import { type ErrorBody, saidBy } from "./errors.ts";

/** The answer of a model with the older interface, or a part of one. */
interface NativeAnswer {
  /** An object for JSON output. */
  response?: unknown;
  tool_calls?: NativeToolCall[] | null;
  usage?: ChatCompletionChunk["usage"];
}

/** Newer models use OpenAI's format. */
interface NativeToolCall {
  id?: string | null;
  index?: number | null;
  name?: string | null;
  arguments?: unknown;
  function?: { name?: string | null; arguments?: unknown } | null;
}

/**
 * Reads the body of an answer that was not streamed, in either interface.
 * @throws ModelError `bad_response` when it is neither; of another kind when it reports an error
 */
export function readAnswer(body: unknown, served: Served): CreateResult {
  if (!isNative(body)) return readCompletion(body, served);
  const { response, tool_calls, usage } = body;
  const message = {
    content: textOf(response),
    tool_calls: (tool_calls ?? []).map((call) => ({
      id: call.id || newCallId(),
      type: "function",
      function: partOf(call),
    })),
  };
  return readCompletion({ choices: [{ message, finish_reason: "stop" }], usage }, served);
}

/** An event of a streamed answer; null for the last. */
export type AnswerEvent = CompletionEvent | NativeAnswer;

/**
 * @param redact removes secrets from a text
 * @throws SyntaxError for data that is not JSON
 * @throws ModelError for an event that reports an error
 */
export function readEvent(
  { data }: EventSourceMessage,
  redact: (text: string) => string,
): ReadEvent<AnswerEvent> {
  if (data === "[DONE]") return { chunk: null, last: true };
  const chunk = JSON.parse(data) as AnswerEvent & ErrorBody;
  const { message, code } = saidBy(chunk);
  if (message !== "") throw answerError({ code }, errorText(message, redact));
  return { chunk };
}

/** Assembles a streamed answer, in either interface. */
export class AnswerReader implements ChunkReader<AnswerEvent, CreateResult> {
  readonly #reader: StreamReader;
  #isNative = false;
  #calls = 0;

  constructor(served: Served) {
    this.#reader = new StreamReader(served);
  }

  read(event: AnswerEvent): string {
    // The older interface gives no reason.
    if (event === null && this.#isNative) return this.#reader.read(chunkOf({}, "stop"));
    if (event === null || !isNative(event)) return this.#reader.read(event);
    this.#isNative = true;
    const { response, tool_calls, usage } = event;
    const calls = (tool_calls ?? []).map((call) => ({
      // A call without an index is complete.
      index: call.index ?? --this.#calls,
      ...(call.index == null || call.id ? { id: call.id || newCallId() } : {}),
      function: partOf(call),
    }));
    const delta = { content: textOf(response), ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    return this.#reader.read({ ...chunkOf(delta, null), usage: usage ?? null });
  }

  result(): CreateResult {
    return this.#reader.result();
  }
}

function isNative(body: unknown): body is NativeAnswer {
  return (
    typeof body === "object" &&
    body !== null &&
    !("choices" in body) &&
    ("response" in body || "tool_calls" in body || "usage" in body)
  );
}

function chunkOf(
  delta: ChatCompletionChunk.Choice.Delta,
  finish_reason: "stop" | null,
): ChatCompletionChunk {
  const choices = [{ index: 0, delta, finish_reason }];
  return { id: "", object: "chat.completion.chunk", created: 0, model: "", choices };
}

function textOf(response: unknown): string {
  if (response === null || response === undefined) return "";
  return typeof response === "string" ? response : JSON.stringify(response);
}

function partOf(call: NativeToolCall): { name: string; arguments: string } {
  const { name, arguments: args } = call.function ?? call;
  return {
    name: name ?? "",
    arguments: typeof args === "string" ? args : args == null ? "" : JSON.stringify(args),
  };
}
