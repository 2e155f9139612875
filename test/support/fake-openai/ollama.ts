import * as z from "zod";
import type { AnswerFormat } from "./answer-format.ts";
import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { type Completion, logprobsOf, split } from "./completion.ts";

const jsonObject = z.record(z.string(), z.json());

const messageSchema = z.strictObject({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string(),
  thinking: z.string().optional(),
  images: z.array(z.base64()).min(1).optional(),
  tool_calls: z
    .array(
      z.strictObject({
        id: z.string().optional(),
        function: z.strictObject({ name: z.string(), arguments: jsonObject }),
      }),
    )
    .min(1)
    .optional(),
  tool_name: z.string().optional(),
  tool_call_id: z.string().optional(),
});

const integer = z.number().int();

/** The options that the server knows; the real one ignores others with a warning in its log. */
const optionsSchema = z.strictObject({
  num_keep: integer,
  seed: integer,
  num_predict: integer,
  top_k: integer,
  top_p: z.number(),
  min_p: z.number(),
  typical_p: z.number(),
  repeat_last_n: integer,
  temperature: z.number(),
  repeat_penalty: z.number(),
  presence_penalty: z.number(),
  frequency_penalty: z.number(),
  stop: z.array(z.string()),
  num_ctx: integer,
  num_batch: integer,
  num_gpu: integer,
  main_gpu: integer,
  use_mmap: z.boolean(),
  num_thread: integer,
});

const requestSchema = z.strictObject({
  model: z.string().min(1),
  messages: z.array(messageSchema).min(1),
  stream: z.boolean().default(true),
  format: z.union([z.literal("json"), jsonObject]).optional(),
  keep_alive: z.union([z.string(), z.number()]).optional(),
  tools: z
    .array(
      z.strictObject({
        type: z.literal("function"),
        function: z.strictObject({
          name: z.string(),
          description: z.string(),
          parameters: z.looseObject({ type: z.string(), properties: jsonObject }),
        }),
      }),
    )
    .min(1)
    .optional(),
  options: optionsSchema.partial().optional(),
  think: z.union([z.boolean(), z.enum(["low", "medium", "high", "max"])]).optional(),
  truncate: z.boolean().optional(),
  shift: z.boolean().optional(),
  logprobs: z.boolean().optional(),
  top_logprobs: integer.optional(),
});

type OllamaRequest = z.infer<typeof requestSchema>;

/**
 * Checks the body of a request to Ollama's `/api/chat` and returns it as the chat completion request that rules match
 * and replies are made for.
 */
export function parseOllamaRequest(body: unknown): ChatRequest | { problem: string } {
  const parsed = requestSchema.safeParse(body);
  if (!parsed.success) return { problem: z.prettifyError(parsed.error) };
  const { model, messages, stream, tools, format } = parsed.data;
  return parseChatRequest({
    model,
    stream,
    messages: messages.map((message, index) => chatMessage(message, index, messages)),
    ...(tools && { tools }),
    ...(format !== undefined && { response_format: { type: "json_object" } }),
  });
}

function chatMessage(
  { role, content, images, tool_calls, tool_call_id }: OllamaRequest["messages"][number],
  index: number,
  messages: OllamaRequest["messages"],
): object {
  switch (role) {
    case "user": {
      if (images === undefined) return { role, content };
      const urls = images.map((data) => ({
        type: "image_url",
        image_url: { url: `data:image/png;base64,${data}` },
      }));
      return { role, content: [{ type: "text", text: content }, ...urls] };
    }
    case "assistant":
      return tool_calls === undefined
        ? { role, content }
        : {
            role,
            content,
            tool_calls: tool_calls.map(({ id, function: call }, position) => ({
              id: id ?? `${index}:${position}`,
              type: "function",
              function: { name: call.name, arguments: JSON.stringify(call.arguments) },
            })),
          };
    case "tool": {
      const caller = messages.findLastIndex((one, at) => at < index && one.role === "assistant");
      return { role, content, tool_call_id: tool_call_id ?? `${caller}:${index - caller - 1}` };
    }
    case "system":
      return { role, content };
  }
}

const CREATED = "2023-11-14T22:13:20Z";

/** The objects of a streamed answer: each adds to the message, the last has the counts. */
function* objects(completion: Completion): Generator<object> {
  const { model, reasoning, pieces, refusal, toolCalls } = completion;
  const head = { model, created_at: CREATED };
  const part = (message: object, rest: object = {}): object => ({
    ...head,
    message: { role: "assistant", content: "", ...message },
    done: false,
    ...rest,
  });
  for (const thinking of split(reasoning ?? "", undefined)) yield part({ thinking });
  for (const content of pieces)
    yield part(
      { content },
      completion.logprobs ? { logprobs: logprobsOf([content]).content } : undefined,
    );
  if (refusal !== undefined) yield part({ content: refusal });
  for (const call of toolCalls) yield part({ tool_calls: [toolCall(call)] });
  yield part({}, last(completion));
}

function last({ finishReason, usage }: Completion): object {
  return {
    done: true,
    ...(finishReason === null
      ? {}
      : { done_reason: finishReason === "tool_calls" ? "stop" : finishReason }),
    ...(usage === null
      ? {}
      : { prompt_eval_count: usage.prompt_tokens, eval_count: usage.completion_tokens }),
    total_duration: 1_000_000,
  };
}

function toolCall({ id, name, arguments: text }: Completion["toolCalls"][number]): object {
  return { id, function: { name, arguments: text === "" ? {} : (JSON.parse(text) as unknown) } };
}

/** Answers of Ollama's `/api/chat`: one JSON object per line, or one alone. */
export const ollamaFormat: AnswerFormat = {
  streamType: "application/x-ndjson",
  whole: (completion, broken) => ({
    model: completion.model,
    created_at: CREATED,
    ...(broken ? {} : wholeMessage(completion)),
  }),
  *chunks(completion, _request, broken) {
    for (const object of objects(completion))
      yield `${JSON.stringify(broken ? { model: completion.model, done: false } : object)}\n`;
  },
  error: (message) => JSON.stringify({ error: message }),
  errorEvent: (message) => `${JSON.stringify({ error: message })}\n`,
  filler: "\n",
  half: '{"model":"fake","message":{"role":"assis',
  end: "",
};

function wholeMessage(completion: Completion): object {
  const { content, refusal, reasoning, toolCalls, pieces } = completion;
  return {
    message: {
      role: "assistant",
      content: content ?? refusal ?? "",
      ...(reasoning === undefined ? {} : { thinking: reasoning }),
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(toolCall) }),
    },
    ...(completion.logprobs ? { logprobs: logprobsOf(pieces).content } : {}),
    ...last(completion),
  };
}
