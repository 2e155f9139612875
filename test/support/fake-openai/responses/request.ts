import type { IncomingMessage } from "node:http";
import * as z from "zod";
import { type ChatRequest, parseChatRequest, strictProblem } from "../chat-request.ts";
import { openAIModel } from "../openai-models.ts";
import type { Refusal } from "../refusal.ts";
import { type InputItem, isMessage, itemSchema, partProblem } from "./input-items.ts";
import { reasoningProblem } from "./reasoning-rules.ts";
import { storedConversation } from "./stored.ts";

const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const jsonSchema = z.record(z.string(), z.json());

const functionTool = z.strictObject({
  type: z.literal("function"),
  name: toolName,
  description: z.string().nullish(),
  // https://developers.openai.com/api/docs/guides/function-calling#defining-functions
  parameters: z.looseObject({ type: z.literal("object") }).nullable(),
  strict: z.boolean().nullable(),
});
/** https://developers.openai.com/api/docs/guides/tools: what OpenAI's server runs itself. */
const builtInTool = z.looseObject({
  type: z.enum([
    "web_search",
    "web_search_preview",
    "file_search",
    "code_interpreter",
    "image_generation",
    "computer_use_preview",
    "mcp",
    "local_shell",
  ]),
});

/** https://developers.openai.com/api/reference/resources/responses/methods/create */
const requestSchema = z.strictObject({
  model: z.string().min(1),
  input: z.union([z.string(), z.array(itemSchema).min(1)]),
  instructions: z.string().nullish(),
  stream: z.boolean().nullish(),
  store: z.boolean().nullish(),
  previous_response_id: z.string().nullish(),
  include: z
    .array(z.enum(["reasoning.encrypted_content", "message.output_text.logprobs"]))
    .nullish(),
  tools: z.array(z.discriminatedUnion("type", [functionTool, builtInTool])).optional(),
  tool_choice: z
    .union([
      z.enum(["auto", "none", "required"]),
      z.strictObject({ type: z.literal("function"), name: toolName }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().nullish(),
  text: z
    .strictObject({
      verbosity: z.enum(["low", "medium", "high"]).nullish(),
      format: z
        .discriminatedUnion("type", [
          z.strictObject({ type: z.literal("text") }),
          z.strictObject({ type: z.literal("json_object") }),
          z.strictObject({
            type: z.literal("json_schema"),
            name: toolName,
            description: z.string().optional(),
            schema: jsonSchema,
            strict: z.boolean().nullish(),
          }),
        ])
        .optional(),
    })
    .optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullish(),
      summary: z.enum(["auto", "concise", "detailed"]).nullish(),
    })
    .nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  temperature: z.number().nullish(),
  top_p: z.number().nullish(),
  top_logprobs: z.int().min(0).max(20).nullish(),
  truncation: z.enum(["auto", "disabled"]).nullish(),
  prompt_cache_key: z.string().optional(),
  metadata: z.record(z.string(), z.string()).nullish(),
  service_tier: z.string().nullish(),
  user: z.string().optional(),
});
export type ResponsesRequest = z.infer<typeof requestSchema>;

/** A request with what its answer depends on besides the conversation. */
export interface ResponsesCall {
  request: ResponsesRequest;
  /** The conversation with what a stored response adds. */
  input: readonly InputItem[];
  /** The account that asks. */
  key: string;
}

const parsedCalls = new WeakMap<ChatRequest, ResponsesCall>();

/** What a chat completion request that {@link parseResponsesRequest} returned was made of. */
export function callOf(chat: ChatRequest): ResponsesCall {
  const call = parsedCalls.get(chat);
  if (call === undefined) throw new Error("This request did not come by /v1/responses");
  return call;
}

/**
 * Checks the body of a request to `/v1/responses` as strictly as OpenAI's own server, and returns it as the chat completion
 * request that rules match and replies are made for.
 */
export function parseResponsesRequest(
  body: unknown,
  { headers }: Pick<IncomingMessage, "headers">,
): ChatRequest | Refusal {
  const wrongPart = partProblem((body as { input?: unknown } | undefined)?.input);
  if (wrongPart !== undefined) return { code: "invalid_value", ...wrongPart };
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const request = parsed.data;
  const given: InputItem[] =
    typeof request.input === "string" ? [{ role: "user", content: request.input }] : request.input;
  const key = String(headers["api-key"] ?? headers.authorization ?? "").replace(/^Bearer /, "");
  const earlier =
    request.previous_response_id == null
      ? []
      : storedConversation(key, request.previous_response_id);
  // https://developers.openai.com/api/docs/guides/conversation-state
  if (earlier === undefined)
    return {
      code: "previous_response_not_found",
      param: "previous_response_id",
      problem: `Previous response with id '${request.previous_response_id}' not found.`,
    };
  const input = [...earlier, ...given];
  const refusal =
    modelProblem(request) ??
    reasoningProblem(given, key, request.store !== false) ??
    callProblem(input) ??
    optionProblem(request);
  if (refusal !== undefined) return refusal;
  const chat = chatRequest(request, input);
  if (!("problem" in chat)) parsedCalls.set(chat, { request, input, key });
  return chat;
}

function modelProblem({
  model,
  reasoning,
  include,
  temperature,
}: ResponsesRequest): Refusal | undefined {
  const known = openAIModel(model);
  const unsupported = (param: string): Refusal => ({
    code: "unsupported_parameter",
    param,
    problem: `Unsupported parameter: '${param}' is not supported with this model.`,
  });
  if (!known.reasons) {
    // https://developers.openai.com/api/docs/guides/reasoning: only models that reason have these.
    if (reasoning?.effort != null) return unsupported("reasoning.effort");
    if (reasoning?.summary != null) return unsupported("reasoning.summary");
    if (include?.includes("reasoning.encrypted_content"))
      return { param: "include", problem: "Encrypted content is not supported with this model." };
    return undefined;
  }
  // https://developers.openai.com/api/docs/guides/latest-model#parameter-compatibility
  const effort = reasoning?.effort ?? known.defaultEffort;
  if (temperature != null && effort !== "none") return unsupported("temperature");
  return undefined;
}

/** Every call has one output, which may come later. https://developers.openai.com/api/docs/guides/function-calling */
function callProblem(input: readonly InputItem[]): Refusal | undefined {
  const calls = new Set<string>();
  const answered = new Set<string>();
  for (const item of input) {
    if (isMessage(item)) continue;
    if (item.type === "function_call") calls.add(item.call_id);
    if (item.type !== "function_call_output") continue;
    if (!calls.has(item.call_id))
      return {
        param: "input",
        problem: `No tool call found for function call output with call_id ${item.call_id}.`,
      };
    answered.add(item.call_id);
  }
  for (const call of calls) {
    if (!answered.has(call))
      return { param: "input", problem: `No tool output found for function call ${call}.` };
  }
  return undefined;
}

function optionProblem({
  tools = [],
  tool_choice,
  text,
  input,
}: ResponsesRequest): Refusal | undefined {
  const names = tools.flatMap((tool) => (tool.type === "function" ? [tool.name] : []));
  // https://developers.openai.com/api/docs/guides/function-calling#tool-choice
  if (tool_choice === "required" && tools.length === 0)
    return { problem: "Tool choice 'required' must be specified with 'tools' parameter." };
  if (typeof tool_choice === "object" && !names.includes(tool_choice.name))
    return { problem: `Tool choice '${tool_choice.name}' not found in 'tools' parameter.` };
  // https://developers.openai.com/api/docs/guides/structured-outputs#supported-schemas
  for (const [index, tool] of tools.entries()) {
    if (tool.type !== "function" || tool.strict === false) continue;
    const problem = strictProblem(tool.parameters ?? {}, `tools[${index}].parameters`);
    if (problem !== undefined) return { code: "invalid_function_parameters", problem };
  }
  const format = text?.format;
  if (format?.type === "json_schema" && format.strict === true) {
    const problem = strictProblem(format.schema, "text.format.schema");
    if (problem !== undefined) return { code: "invalid_json_schema", problem };
  }
  // https://developers.openai.com/api/docs/guides/structured-outputs#json-mode
  if (format?.type === "json_object" && !/json/i.test(JSON.stringify(input)))
    return {
      param: "input",
      problem:
        "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    };
  return undefined;
}

function chatRequest(
  request: ResponsesRequest,
  input: readonly InputItem[],
): ChatRequest | Refusal {
  const { model, stream, instructions, tools = [], text } = request;
  const system = instructions == null ? [] : [{ role: "system", content: instructions }];
  const format = text?.format;
  return parseChatRequest({
    model,
    stream,
    messages: [...system, ...chatMessages(input)],
    ...(format?.type === "json_object" && { response_format: format }),
    ...(format?.type === "json_schema" && {
      response_format: {
        type: "json_schema",
        json_schema: { name: format.name, schema: format.schema },
      },
    }),
    ...(tools.some(({ type }) => type === "function") && {
      tools: tools.flatMap((tool) =>
        tool.type === "function"
          ? [
              {
                type: "function",
                function: {
                  name: tool.name,
                  description: tool.description ?? "",
                  parameters: tool.parameters ?? {},
                },
              },
            ]
          : [],
      ),
    }),
  });
}

interface ChatCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}
type ChatMessage = {
  role: string;
  content?: unknown;
  tool_calls?: ChatCall[];
  tool_call_id?: string;
};

/** The conversation as chat completions has it: calls stand in the message before them. */
function chatMessages(input: readonly InputItem[]): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const item of input) {
    if (isMessage(item)) {
      messages.push({ role: item.role, content: contentOf(item.content) });
      continue;
    }
    if (item.type === "function_call") {
      const { call_id: id, name, arguments: args } = item;
      const call: ChatCall = { id, type: "function", function: { name, arguments: args } };
      const last = messages.at(-1);
      if (last?.role === "assistant") last.tool_calls = [...(last.tool_calls ?? []), call];
      else messages.push({ role: "assistant", content: null, tool_calls: [call] });
    }
    if (item.type === "function_call_output")
      messages.push({ role: "tool", tool_call_id: item.call_id, content: textOf(item.output) });
  }
  return messages;
}

type Content = Extract<InputItem, { role: string }>["content"];

function contentOf(content: Content): unknown {
  if (typeof content === "string") return content;
  return content.flatMap((part): object[] => {
    switch (part.type) {
      case "input_text":
      case "output_text":
        return [{ type: "text", text: part.text }];
      case "refusal":
        return [{ type: "text", text: part.refusal }];
      case "input_image":
        return [{ type: "image_url", image_url: { url: part.image_url } }];
      case "input_file":
        return [{ type: "text", text: `<file ${part.filename ?? part.file_url ?? part.file_id}>` }];
    }
  });
}

function textOf(output: Extract<InputItem, { type: "function_call_output" }>["output"]): string {
  if (typeof output === "string") return output;
  return output
    .map((part) => (part.type === "input_text" ? part.text : `<${part.type}>`))
    .join("\n");
}
