import * as z from "zod";

const textPart = z.strictObject({ type: z.literal("text"), text: z.string() });
const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z
      .string()
      .regex(/^(data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}|https?:\/\/.+)$/),
    detail: z.enum(["auto", "low", "high"]).optional(),
  }),
});
/** PDF alone: https://developers.openai.com/api/docs/guides/file-inputs?api-mode=chat */
const filePart = z.strictObject({
  type: z.literal("file"),
  file: z.strictObject({
    filename: z.string().min(1),
    file_data: z
      .string()
      .regex(/^data:application\/pdf;base64,JVBERi[A-Za-z0-9+/]+={0,2}$/, "must be a PDF"),
  }),
});
/** Google's server takes a PDF so; other servers' rules refuse it (`pdfProblem`). */
const pdfImagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z.string().regex(/^data:application\/pdf;base64,JVBERi[A-Za-z0-9+/]+={0,2}$/),
  }),
});
const name = z
  .string()
  .regex(/^[^\s<|\\/>]{1,64}$/)
  .optional();
const text = z.union([z.string(), z.array(textPart)]);

const toolCallSchema = z.strictObject({
  id: z.string().min(1),
  type: z.literal("function"),
  function: z.strictObject({
    name: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,64}$/, "string does not match pattern '^[a-zA-Z0-9_-]+$'"),
    arguments: z.string(),
  }),
});

const messageSchema = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: text, name }),
  z.strictObject({ role: z.literal("developer"), content: text, name }),
  z.strictObject({
    role: z.literal("user"),
    content: z.union([
      z.string(),
      z.array(z.union([textPart, imagePart, filePart, pdfImagePart])).min(1),
    ]),
    name,
  }),
  z.strictObject({
    role: z.literal("assistant"),
    content: text.nullish(),
    refusal: z.string().nullish(),
    name,
    tool_calls: z.array(toolCallSchema).min(1).optional(),
  }),
  z.strictObject({ role: z.literal("tool"), content: text, tool_call_id: z.string() }),
]);

const jsonSchema = z.record(z.string(), z.json());
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);

const requestSchema = z.strictObject({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.strictObject({ include_usage: z.boolean().optional() }).nullish(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: toolName,
          description: z.string().optional(),
          parameters: jsonSchema.optional(),
          strict: z.boolean().nullish(),
        }),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: toolName }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  response_format: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("text") }),
      z.strictObject({ type: z.literal("json_object") }),
      z.strictObject({
        type: z.literal("json_schema"),
        json_schema: z.strictObject({
          name: toolName,
          description: z.string().optional(),
          schema: jsonSchema,
          strict: z.boolean().nullish(),
        }),
      }),
    ])
    .optional(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  seed: z.number().int().nullish(),
  stop: z.union([z.string(), z.array(z.string())]).nullish(),
  max_tokens: z.number().int().nullish(),
  max_completion_tokens: z.number().int().nullish(),
  frequency_penalty: z.number().nullish(),
  presence_penalty: z.number().nullish(),
  logit_bias: z.record(z.string(), z.number()).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.number().int().nullish(),
  n: z.literal(1).nullish(),
  user: z.string().optional(),
  reasoning_effort: z.string().nullish(),
  verbosity: z.enum(["low", "medium", "high"]).nullish(),
  metadata: z.record(z.string(), z.string()).nullish(),
  store: z.boolean().nullish(),
  service_tier: z.string().nullish(),
  // Not OpenAI's: Ollama's own settings.
  options: z.record(z.string(), z.json()).optional(),
});
export type ChatRequest = z.infer<typeof requestSchema>;
export type ChatRequestMessage = ChatRequest["messages"][number];

/** Checks a body as strictly as OpenAI does. Returns the request, or what is wrong with it. */
export function parseChatRequest(body: unknown): ChatRequest | { problem: string } {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const request = parsed.data;
  const problem =
    toolCallProblem(request.messages) ??
    callProblem(request.messages) ??
    optionProblem(request) ??
    pdfProblem(request);
  return problem === undefined ? request : { problem };
}

/** Every tool call is answered exactly once, directly after the message that made it. */
function toolCallProblem(messages: readonly ChatRequestMessage[]): string | undefined {
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const position = open.indexOf(message.tool_call_id);
      if (position === -1)
        return `messages[${index}]: no open tool call '${message.tool_call_id}' in the message before`;
      open.splice(position, 1);
      continue;
    }
    if (open.length > 0)
      return `messages[${index}]: tool calls without a result: ${open.join(", ")}`;
    if (message.role === "assistant") {
      if (message.content == null && message.tool_calls === undefined && message.refusal == null)
        return `messages[${index}]: an assistant message needs content or tool_calls`;
      open = (message.tool_calls ?? []).map((call) => call.id);
    }
  }
  return open.length > 0 ? `tool calls without a result at the end: ${open.join(", ")}` : undefined;
}

/** Many servers read the arguments of calls (https://github.com/openai/openai-agents-python/issues/2061), and know them by their ids. */
function callProblem(messages: readonly ChatRequestMessage[]): string | undefined {
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    for (const call of message.tool_calls ?? []) {
      if (!isObjectText(call.function.arguments))
        return `messages[${index}]: the arguments of the call '${call.id}' are not a JSON object`;
      if (ids.has(call.id)) return `messages[${index}]: duplicate tool call id '${call.id}'`;
      ids.add(call.id);
    }
  }
  return undefined;
}

function isObjectText(written: string): boolean {
  try {
    const value: unknown = JSON.parse(written);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/**
 * Google's server, known by its models, refuses parts of the kind `file` and reads a PDF as an image; no other one does that.
 * Models without vision get no PDF.
 */
function pdfProblem({ model, messages }: ChatRequest): string | undefined {
  const isGoogles = model.startsWith("gemini-");
  for (const part of messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))) {
    if (part.type === "file" && isGoogles) return "Invalid content part type: file";
    if (
      part.type === "file" &&
      /^(o[13]-mini|gpt-3|gpt-4(-|$)|deepseek|qwen|kimi|glm|mistral|llama)/.test(model)
    )
      return `The model '${model}' does not support file inputs`;
    if (
      part.type === "image_url" &&
      part.image_url.url.startsWith("data:application/pdf") &&
      !isGoogles
    )
      return "You uploaded an unsupported image. Please make sure your image is of one of the following formats: ['png', 'jpeg', 'gif', 'webp'].";
  }
  return undefined;
}

function optionProblem(request: ChatRequest): string | undefined {
  const tools = request.tools ?? [];
  if (request.tool_choice !== undefined && tools.length === 0) return "tool_choice without tools";
  if (request.parallel_tool_calls !== undefined && tools.length === 0)
    return "parallel_tool_calls without tools";
  if (request.stream_options != null && request.stream !== true)
    return "stream_options without stream";
  const choice = request.tool_choice;
  if (
    typeof choice === "object" &&
    !tools.some((tool) => tool.function.name === choice.function.name)
  )
    return `tool_choice names '${choice.function.name}', which is not among the tools`;
  // Gemini knows no strict mode: its own rules for schemas are in makers/schema-refusals.ts.
  if (request.model.startsWith("gemini-")) return undefined;
  for (const [index, tool] of tools.entries()) {
    if (tool.function.strict !== true) continue;
    const problem = strictProblem(tool.function.parameters ?? {}, `tools[${index}]`);
    if (problem !== undefined) return problem;
  }
  const format = request.response_format;
  if (format?.type === "json_schema" && format.json_schema.strict === true)
    return strictProblem(format.json_schema.schema, "response_format");
  return undefined;
}

/** What OpenAI refuses in a strict schema. */
export function strictProblem(schema: unknown, path: string): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined;
  if (Array.isArray(schema))
    return firstProblem(
      schema.map((item, index) => [`${index}`, item]),
      path,
    );
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
  if (type === "object" || properties !== undefined) {
    if (additionalProperties !== false)
      return `${path}: a strict schema needs additionalProperties: false in every object`;
    const missing = Object.keys(properties ?? {}).filter(
      (key) => !Array.isArray(required) || !required.includes(key),
    );
    if (missing.length > 0)
      return `${path}: a strict schema needs every property in required; missing: ${missing.join(", ")}`;
  }
  return firstProblem(Object.entries(schema), path);
}

function firstProblem(entries: readonly (readonly [string, unknown])[], path: string) {
  for (const [key, value] of entries) {
    const problem = strictProblem(value, `${path}.${key}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** All text of a message's content. */
export function textOf(message: ChatRequestMessage | undefined): string {
  const content = message?.content;
  if (content == null) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

export function systemText(request: ChatRequest): string {
  return request.messages
    .filter((message) => message.role === "system" || message.role === "developer")
    .map(textOf)
    .join("\n");
}

export function lastUserText(request: ChatRequest): string {
  return textOf(request.messages.findLast((message) => message.role === "user"));
}
