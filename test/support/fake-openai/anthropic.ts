import * as z from "zod";
import type { AnswerFormat } from "./answer-format.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { type Completion, split } from "./completion.ts";

const jsonObject = z.record(z.string(), z.json());
const said = z.string().regex(/\S/, "text content blocks must contain non-whitespace text");
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);

const cacheControl = z.strictObject({
  type: z.literal("ephemeral"),
  ttl: z.enum(["5m", "1h"]).optional(),
});
const textBlock = z.strictObject({ type: z.literal("text"), text: said });
const imageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    data: z.base64(),
  }),
});
const toolUseBlock = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: toolName,
  input: jsonObject,
});
const toolResultBlock = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.string(),
  is_error: z.boolean().optional(),
});

const messageSchema = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      said,
      z.array(z.discriminatedUnion("type", [textBlock, imageBlock, toolResultBlock])).min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([
      said,
      z.array(z.discriminatedUnion("type", [textBlock, toolUseBlock])).min(1),
    ]),
  }),
]);

const requestSchema = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  messages: z.array(messageSchema).min(1),
  system: said.optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().optional() }).optional(),
  cache_control: cacheControl.optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024) }),
      z.strictObject({
        type: z.literal("adaptive"),
        display: z.enum(["summarized", "omitted"]).optional(),
      }),
      z.strictObject({ type: z.literal("disabled") }),
    ])
    .optional(),
  tools: z
    .array(
      z.strictObject({
        name: toolName,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.enum(["auto", "any", "none"]) }),
      z.strictObject({ type: z.literal("tool"), name: toolName }),
    ])
    .optional(),
});
type AnthropicRequest = z.infer<typeof requestSchema>;
type Message = AnthropicRequest["messages"][number];
type Block = Exclude<Message["content"], string>[number];

/**
 * Checks the body of a request to Anthropic's `/v1/messages` as strictly as the real one, and returns it as the chat
 * completion request that rules match and replies are made for.
 */
export function parseAnthropicRequest(body: unknown): ChatRequest | { problem: string } {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const request = parsed.data;
  const problem = toolProblem(request) ?? thinkingProblem(request) ?? lastProblem(request);
  if (problem !== undefined) return { problem };
  const { model, system, messages, stream, tools } = request;
  return parseChatRequest({
    model,
    stream,
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: system }]),
      ...messages.flatMap(chatMessages),
    ],
    ...(tools && {
      tools: tools.map(({ name, description, input_schema }) => ({
        type: "function",
        function: { name, description, parameters: input_schema },
      })),
    }),
  });
}

const blocksOf = ({ content }: Message): Block[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : content;

function toolProblem({ messages, tools = [], tool_choice }: AnthropicRequest): string | undefined {
  if (tool_choice !== undefined && tools.length === 0)
    return "tool_choice may only be specified while providing tools";
  if (tool_choice?.type === "tool" && !tools.some(({ name }) => name === tool_choice.name))
    return `tool_choice: tool '${tool_choice.name}' not found in provided tools`;
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) return "tools: tool names must be unique";
  const usesTools = messages.flatMap(blocksOf).some(({ type }) => type.startsWith("tool_"));
  if (usesTools && tools.length === 0)
    return "requests which include tool_use or tool_result blocks must define tools";
  return undefined;
}

function thinkingProblem(request: AnthropicRequest): string | undefined {
  const { thinking, max_tokens, temperature, tool_choice, messages } = request;
  if (thinking === undefined || thinking.type === "disabled") return undefined;
  if (tool_choice?.type === "any" || tool_choice?.type === "tool")
    return "thinking may not be enabled when tool_choice forces tool use";
  if (thinking.type === "adaptive") return undefined;
  if (thinking.budget_tokens >= max_tokens)
    return "max_tokens must be greater than thinking.budget_tokens";
  if (temperature !== undefined && temperature !== 1)
    return "temperature may only be set to 1 when thinking is enabled";
  const last = messages.findLast(({ role }) => role === "assistant");
  if (last !== undefined && blocksOf(last).some(({ type }) => type === "tool_use"))
    return "a final assistant message must start with a thinking block";
  return undefined;
}

function lastProblem({ messages }: AnthropicRequest): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return undefined;
  const end = blocksOf(last).at(-1);
  return end?.type === "text" && /\s$/.test(end.text)
    ? "final assistant content cannot end with trailing whitespace"
    : undefined;
}

function chatMessages(message: Message): object[] {
  const blocks = blocksOf(message);
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (message.role === "assistant") {
    const tool_calls = blocks.flatMap((block) =>
      block.type === "tool_use"
        ? [
            {
              id: block.id,
              type: "function",
              function: { name: block.name, arguments: JSON.stringify(block.input) },
            },
          ]
        : [],
    );
    const content = texts.join("\n");
    return [{ role: "assistant", content, ...(tool_calls.length > 0 ? { tool_calls } : {}) }];
  }
  const results = blocks.flatMap((block) =>
    block.type === "tool_result"
      ? [{ role: "tool", content: block.content, tool_call_id: block.tool_use_id }]
      : [],
  );
  const parts = blocks.flatMap((block): object[] => {
    if (block.type === "text") return [block];
    if (block.type !== "image") return [];
    const { media_type, data } = block.source;
    return [{ type: "image_url", image_url: { url: `data:${media_type};base64,${data}` } }];
  });
  return parts.length === 0 ? results : [...results, { role: "user", content: parts }];
}

const STOP_REASONS: { readonly [reason: string]: string } = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

function stopReason({ finishReason }: Completion): string | null {
  return finishReason === null ? null : (STOP_REASONS[finishReason.toLowerCase()] ?? finishReason);
}

function usage({ usage: counts }: Completion): object {
  return {
    input_tokens: counts?.prompt_tokens ?? 0,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: counts?.completion_tokens ?? 0,
  };
}

const inputOf = (text: string): unknown => (text === "" ? {} : (JSON.parse(text) as unknown));

function contentOf({ reasoning, content, refusal, toolCalls }: Completion): object[] {
  const text = content ?? refusal ?? "";
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: "thinking", thinking: reasoning, signature: "signed" }]),
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

function* events(completion: Completion): Generator<string> {
  const { model, id, reasoning, pieces, refusal, toolCalls } = completion;
  const message = { id, type: "message", role: "assistant", model, content: [] };
  yield (
    event({
      type: "message_start",
      message: { ...message, stop_reason: null, usage: { ...usage(completion), output_tokens: 1 } },
    }) + event({ type: "ping" })
  );
  let index = 0;
  if (reasoning !== undefined)
    yield* blockEvents(index++, { type: "thinking", thinking: "", signature: "" }, [
      ...split(reasoning, undefined).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "signed" },
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
  whole: (completion, broken) => ({
    id: completion.id,
    type: "message",
    role: "assistant",
    model: completion.model,
    ...(broken ? {} : { content: contentOf(completion) }),
    stop_reason: stopReason(completion),
    stop_sequence: null,
    usage: usage(completion),
  }),
  *chunks(completion, _request, broken) {
    for (const chunk of events(completion)) yield broken ? event({ type: "ping" }) : chunk;
  },
  error: (message, type) => JSON.stringify(errorOf(type, message)),
  errorEvent: (message) => event(errorOf("overloaded_error", message)),
  filler: event({ type: "ping" }),
  half: 'event: content_block_delta\ndata: {"type":"content_block_del',
  end: event({ type: "message_stop" }),
};
