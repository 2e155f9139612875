import type { AnswerFormat } from "../answer-format.ts";
import type { ChatRequest } from "../chat-request.ts";
import { type Completion, split } from "../completion.ts";
import { thinkingOf } from "./thinking.ts";

const STOP_REASONS: { readonly [reason: string]: string } = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

function stopReason({ finishReason }: Completion): string | null {
  return finishReason === null ? null : (STOP_REASONS[finishReason.toLowerCase()] ?? finishReason);
}

function usage({ usage: counts, cache }: Completion): object {
  const { read = 0, written = 0 } = cache ?? {};
  return {
    // Without what the cache had or got: https://platform.claude.com/docs/en/build-with-claude/prompt-caching
    input_tokens: (counts?.prompt_tokens ?? 0) - read - written,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: counts?.completion_tokens ?? 0,
  };
}

const inputOf = (text: string): unknown => (text === "" ? {} : (JSON.parse(text) as unknown));

function contentOf(completion: Completion, request: ChatRequest): object[] {
  const { content, refusal, toolCalls } = completion;
  const text = content ?? refusal ?? "";
  return [
    ...thinkingOf(completion, request),
    ...(text === "" ? [] : [{ type: "text", text, citations: null }]),
    ...toolCalls.map(({ id, name, arguments: args }) => ({
      type: "tool_use",
      id,
      name,
      input: inputOf(args),
    })),
  ];
}

/** A block of the answer in parts, each ready to be written. */
function* blockEvents(
  index: number,
  content_block: object,
  deltas: readonly object[],
): Generator<string> {
  let pending = event({ type: "content_block_start", index, content_block });
  for (const delta of deltas) {
    yield pending + event({ type: "content_block_delta", index, delta });
    pending = "";
  }
  yield pending + event({ type: "content_block_stop", index });
}

function* events(completion: Completion, request: ChatRequest): Generator<string> {
  const { model, id, pieces, refusal, toolCalls } = completion;
  const message = { id, type: "message", role: "assistant", model, content: [] };
  yield (
    event({
      type: "message_start",
      message: { ...message, stop_reason: null, usage: { ...usage(completion), output_tokens: 1 } },
    }) + event({ type: "ping" })
  );
  let index = 0;
  for (const block of thinkingOf(completion, request))
    if (block.type === "redacted_thinking") yield* blockEvents(index++, block, []);
    else
      yield* blockEvents(index++, { type: "thinking", thinking: "", signature: "" }, [
        ...split(block.thinking, undefined).map((thinking) => ({
          type: "thinking_delta",
          thinking,
        })),
        { type: "signature_delta", signature: block.signature },
      ]);
  const texts = refusal === undefined ? pieces : [...pieces, refusal];
  if (texts.length > 0)
    yield* blockEvents(
      index++,
      { type: "text", text: "", citations: null },
      texts.map((text) => ({ type: "text_delta", text })),
    );
  for (const { id: call, name, arguments: args } of toolCalls)
    yield* blockEvents(
      index++,
      { type: "tool_use", id: call, name, input: {} },
      ["", ...split(args === "{}" ? "" : args, 8)].map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      })),
    );
  const stop_reason = stopReason(completion);
  if (stop_reason !== null)
    yield event({
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      usage: { output_tokens: completion.usage?.completion_tokens ?? 0 },
    });
}

const event = (data: { type: string; [key: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;

const errorOf = (type: string, message: string) => ({ type: "error", error: { type, message } });

/** Answers of Anthropic's Messages API: server-sent events, or one JSON object. */
export const anthropicFormat: AnswerFormat = {
  streamType: "text/event-stream; charset=utf-8",
  whole: (completion, broken, request) => ({
    id: completion.id,
    type: "message",
    role: "assistant",
    model: completion.model,
    ...(broken ? {} : { content: contentOf(completion, request) }),
    stop_reason: stopReason(completion),
    stop_sequence: null,
    usage: usage(completion),
  }),
  *chunks(completion, request, broken) {
    for (const chunk of events(completion, request)) yield broken ? event({ type: "ping" }) : chunk;
  },
  error: (message, type) => JSON.stringify(errorOf(type, message)),
  errorEvent: (message) => event(errorOf("overloaded_error", message)),
  filler: event({ type: "ping" }),
  half: 'event: content_block_delta\ndata: {"type":"content_block_del',
  end: event({ type: "message_stop" }),
};
