import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { CreateOptions, CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { Piece } from "../http/answer-formats.ts";
import type { AnswerReader } from "../http/read-stream.ts";
import { type Chunk, chunkOf } from "../openai/chat-completions/chunk.ts";
import { CompletionReader } from "../openai/chat-completions/completion-reader.ts";
import type { Served } from "../openai/chat-completions/completion-reader.ts";

/** Assembles an answer of Workers AI, in OpenAI's format or in the older one of the service. */
export class WorkersAIReader implements AnswerReader<CreateResult> {
  readonly #reader: CompletionReader;
  #isNative = false;

  constructor(served: Served, startOver?: CreateOptions["startOver"]) {
    this.#reader = new CompletionReader(served, startOver, (value) => {
      if (!isNative(value)) return chunkOf(value);
      this.#isNative = true;
      return nativeChunk(value);
    });
  }

  get ended(): boolean {
    return this.#reader.ended;
  }

  get hasBegun(): boolean {
    return this.#reader.hasBegun;
  }

  read(piece: Piece): string {
    // The older format gives no reason.
    if (piece.value === undefined && this.#isNative) this.#reader.read({ value: FINISHED });
    return this.#reader.read(piece);
  }

  end(): string {
    return this.#reader.end();
  }

  result(): CreateResult {
    return this.#reader.result();
  }
}

const FINISHED: JsonObject = { choices: [{ delta: {}, finish_reason: "stop" }] };

function isNative(body: JsonObject): boolean {
  return (
    body["choices"] === undefined &&
    ["response", "tool_calls", "usage"].some((name) => name in body)
  );
}

/** An older answer, or a part of one, as a chunk in OpenAI's format. */
function nativeChunk({ response, tool_calls, usage }: JsonObject): Chunk {
  const message: JsonObject = {
    content: contentOf(response),
    tool_calls: tool_calls ?? null,
  };
  return chunkOf({ choices: [{ delta: message }], ...(usage !== undefined && { usage }) });
}

/** JSON output is an object. */
function contentOf(response: Json | undefined): Json {
  return isJsonObject(response) || Array.isArray(response)
    ? JSON.stringify(response)
    : (response ?? null);
}
