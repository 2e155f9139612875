import type { IncomingMessage } from "node:http";
import * as z from "zod";
import { claudeRefusal } from "../makers/schema-refusals.ts";
import { type ChatRequest, parseChatRequest } from "../chat-request.ts";
import type { Refusal } from "../refusal.ts";
import {
  blocksOf,
  rememberThinking,
  thinkingBlockSchemas,
  thinkingProblem,
  thinkingSchema,
} from "./thinking.ts";

const jsonObject = z.record(z.string(), z.json());
const said = z.string().regex(/\S/, "text content blocks must contain non-whitespace text");
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);

const cacheControl = z.strictObject({
  type: z.literal("ephemeral"),
  ttl: z.enum(["5m", "1h"]).optional(),
});
const cached = { cache_control: cacheControl.optional() };
const textBlock = z.strictObject({ type: z.literal("text"), text: said, ...cached });
const imageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({
    type: z.literal("base64"),
    media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    data: z.base64(),
  }),
  ...cached,
});
/** https://platform.claude.com/docs/en/build-with-claude/pdf-support, and citations for texts */
const documentBlock = z.strictObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      media_type: z.literal("application/pdf"),
      data: z.base64().regex(/^JVBERi/, "The PDF specified was not valid."),
    }),
    z.strictObject({
      type: z.literal("text"),
      media_type: z.literal("text/plain"),
      data: said,
    }),
  ]),
  title: z.string().min(1).max(500).nullish(),
  context: z.string().nullish(),
  ...cached,
});
const toolUseBlock = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: toolName,
  input: jsonObject,
  ...cached,
});
const toolResultBlock = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string(),
  content: z.union([
    z.string(),
    z.array(z.discriminatedUnion("type", [textBlock, imageBlock])).min(1),
  ]),
  is_error: z.boolean().optional(),
  ...cached,
});

const messageSchema = z.discriminatedUnion("role", [
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      said,
      z
        .array(
          z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock, toolResultBlock]),
        )
        .min(1),
    ]),
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.union([
      said,
      z
        .array(z.discriminatedUnion("type", [textBlock, toolUseBlock, ...thinkingBlockSchemas]))
        .min(1),
    ]),
  }),
]);

const requestSchema = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().positive(),
  messages: z.array(messageSchema).min(1),
  system: z.union([said, z.array(textBlock).min(1)]).optional(),
  stream: z.boolean().optional(),
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().optional(),
  top_k: z.int().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().optional() }).optional(),
  cache_control: cacheControl.optional(),
  thinking: thinkingSchema.optional(),
  output_config: z
    .strictObject({ effort: z.enum(["low", "medium", "high", "xhigh", "max"]).optional() })
    .optional(),
  tools: z
    .array(
      z.strictObject({
        name: toolName,
        description: z.string().optional(),
        input_schema: z.looseObject({ type: z.literal("object") }),
        ...cached,
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
export type AnthropicRequest = z.infer<typeof requestSchema>;
export type Message = AnthropicRequest["messages"][number];
export type Block = Exclude<Message["content"], string>[number];

/**
 * Checks the body of a request to Anthropic's `/v1/messages` as strictly as the real one, and returns it as the chat
 * completion request that rules match and replies are made for.
 */
export function parseAnthropicRequest(
  body: unknown,
  { headers }: IncomingMessage,
): ChatRequest | Refusal {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  let marks = 0;
  // What rules match and replies are made for is the request without its marks.
  const request = JSON.parse(JSON.stringify(parsed.data), (name, value: unknown) => {
    if (name !== "cache_control") return value;
    marks++;
    return undefined;
  }) as AnthropicRequest;
  if (marks > 4) {
    // https://platform.claude.com/docs/en/build-with-claude/prompt-caching
    return { problem: `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.` };
  }
  const key = String(headers["x-api-key"]);
  const problem =
    orderProblem(request) ??
    toolProblem(request) ??
    thinkingProblem(request, key) ??
    lastProblem(request);
  if (problem !== undefined) return { problem };
  const { model, system, messages, stream, tools } = request;
  const chat = parseChatRequest({
    model,
    stream,
    messages: [
      ...(system === undefined ? [] : [{ role: "system", content: systemText(system) }]),
      ...messages.flatMap(chatMessages),
    ],
    ...(tools && {
      tools: tools.map(({ name, description, input_schema }) => ({
        type: "function",
        function: { name, description, parameters: input_schema },
      })),
    }),
  });
  if (!("problem" in chat)) rememberThinking(chat, { key, thinking: request.thinking });
  return chat;
}

function toolProblem({ messages, tools = [], tool_choice }: AnthropicRequest): string | undefined {
  if (tool_choice !== undefined && tools.length === 0)
    return "tool_choice may only be specified while providing tools";
  if (tool_choice?.type === "tool" && !tools.some(({ name }) => name === tool_choice.name))
    return `tool_choice: tool '${tool_choice.name}' not found in provided tools`;
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) return "tools: tool names must be unique";
  for (const [index, { input_schema: schema }] of tools.entries()) {
    const refused = claudeRefusal({ properties: {}, ...schema });
    if (refused !== undefined) return `tools.${index}.custom.input_schema: ${refused}`;
  }
  const usesTools = messages.flatMap(blocksOf).some(({ type }) => type.startsWith("tool_"));
  if (usesTools && tools.length === 0)
    return "requests which include tool_use or tool_result blocks must define tools";
  return undefined;
}

/** What the API refuses of any model; it puts messages of one role in a row together before. */
function orderProblem({ messages }: AnthropicRequest): string | undefined {
  if (messages[0]?.role !== "user") return 'messages: first message must use the "user" role';
  const ids = new Set<string>();
  for (const [at, message] of messages.entries())
    for (const [index, block] of blocksOf(message).entries()) {
      // https://github.com/anomalyco/opencode/issues/1279
      if (block.type === "tool_use" && ids.has(block.id))
        return `messages.${at}.content.${index}: \`tool_use\` ids must be unique`;
      if (block.type === "tool_use") ids.add(block.id);
      if (block.type === "tool_result" && block.is_error === true && resultText(block) === "")
        return `messages.${at}.content.${index}.tool_result: content cannot be empty if \`is_error\` is true`;
    }
  return undefined;
}

/** https://platform.claude.com/docs/en/about-claude/models/whats-new-claude-4-6#prefill-removal */
const WITHOUT_PREFILL = /^claude-(opus|sonnet)-4-6|^claude-\w+-(4-[7-9]|[5-9])/;

function lastProblem({ model, messages, thinking }: AnthropicRequest): string | undefined {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return undefined;
  // https://platform.claude.com/docs/en/build-with-claude/extended-thinking: responses cannot be pre-filled.
  const thinks = thinking !== undefined && thinking.type !== "disabled";
  if (thinks || WITHOUT_PREFILL.test(model))
    return "This model does not support assistant message prefill. The conversation must end with a user message.";
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
      ? [{ role: "tool", content: resultText(block), tool_call_id: block.tool_use_id }]
      : [],
  );
  const parts = blocks.flatMap((block): object[] => {
    if (block.type === "text") return [block];
    if (block.type === "document") {
      const { data } = block.source;
      // What rules match is the name, and of a text what it says.
      const text = block.source.type === "text" ? data : "(PDF)";
      return [{ type: "text", text: `(document ${block.title ?? ""}) ${text}` }];
    }
    if (block.type !== "image") return [];
    const { media_type, data } = block.source;
    return [{ type: "image_url", image_url: { url: `data:${media_type};base64,${data}` } }];
  });
  return parts.length === 0 ? results : [...results, { role: "user", content: parts }];
}

function systemText(system: NonNullable<AnthropicRequest["system"]>): string {
  return typeof system === "string" ? system : system.map(({ text }) => text).join("\n");
}

function resultText({ content }: Extract<Block, { type: "tool_result" }>): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "(image)")).join("\n");
}
