import * as z from "zod";

const toolCallSchema = z.strictObject({
  /** Default: made from the request, so the same request gets the same id. */
  id: z.string().optional(),
  name: z.string(),
  /** The JSON text as the model would write it, or an object to be written as JSON. */
  arguments: z.union([z.string(), z.record(z.string(), z.json())]).default("{}"),
});

const usageSchema = z.strictObject({
  prompt_tokens: z.number().int(),
  completion_tokens: z.number().int(),
  /** Default: the sum of both. */
  total_tokens: z.number().int().optional(),
  prompt_tokens_details: z.record(z.string(), z.number().int()).optional(),
  completion_tokens_details: z.record(z.string(), z.number().int()).optional(),
});

export const replySchema = z.strictObject({
  /** `{digest}` stands for a digest of the request, as in the default reply. */
  content: z.string().nullable().optional(),
  /** A text of that many words instead of `content`, one word per chunk. */
  words: z.number().int().nonnegative().optional(),
  /** Sent as `reasoning_content`, before the content. */
  reasoning: z.string().optional(),
  /** Whether a part of the thinking comes encrypted, where the API has that (Anthropic's). */
  redacted: z.boolean().optional(),
  refusal: z.string().optional(),
  tool_calls: z.array(toolCallSchema).optional(),
  /** Default: `tool_calls` with tool calls, else `stop`. */
  finish_reason: z.string().nullable().optional(),
  /** Log probabilities for each piece of the content. */
  logprobs: z.boolean().optional(),
  /** Null: no usage at all. Default: counts words. */
  usage: usageSchema.nullable().optional(),
});
export type Reply = z.infer<typeof replySchema>;

const afterChunks = z.number().int().nonnegative().default(1);

const faultSchema = z.discriminatedUnion("kind", [
  /** An error answer; without `body` one like OpenAI's. */
  z.strictObject({
    kind: z.literal("status"),
    status: z.number().int().min(300).max(599),
    headers: z.record(z.string(), z.string()).default({}),
    code: z.string().optional(),
    message: z.string().optional(),
    body: z.string().optional(),
  }),
  /** Destroys the socket: before the headers with `after_chunks: 0`, else after that many chunks (or half a body). */
  z.strictObject({ kind: z.literal("cut"), after_chunks: afterChunks }),
  /** Sends nothing any more and keeps the connection open. */
  z.strictObject({ kind: z.literal("stall"), after_chunks: afterChunks }),
  /** Half of a JSON document, or a stream whose last event is half of one; the answer ends properly. */
  z.strictObject({ kind: z.literal("truncated") }),
  /** A page with status 200, as proxies and captive portals send. */
  z.strictObject({ kind: z.literal("html") }),
  /** Nothing: an empty body or a stream without events. */
  z.strictObject({ kind: z.literal("empty") }),
  /** A stream that ends properly after a number of chunks, without finish reason and `[DONE]`. */
  z.strictObject({ kind: z.literal("unfinished"), after_chunks: afterChunks }),
  /** `choices: []`. */
  z.strictObject({ kind: z.literal("no_choices") }),
  /** An error object as an event in the middle of a stream. */
  z.strictObject({
    kind: z.literal("error_event"),
    after_chunks: afterChunks,
    code: z.string().default("server_error"),
    message: z.string().default("The server had an error."),
  }),
]);

const matchSchema = z.strictObject({
  /** Contained in the text of the last message, whoever said it. */
  text: z.string().optional(),
  /** Contained in the text of any message. */
  any: z.string().optional(),
  /** Contained in the last message of role `user`. */
  user: z.string().optional(),
  /** Contained in the system messages: tells agents apart. */
  system: z.string().optional(),
  /** Role of the last message. */
  role: z.enum(["system", "developer", "user", "assistant", "tool"]).optional(),
  model: z.string().optional(),
  stream: z.boolean().optional(),
});

export const ruleSchema = z.strictObject({
  name: z.string(),
  /** All given parts must match. Without any the rule matches every request. */
  match: matchSchema.default({}),
  /** Applies to that many requests, then no longer. Only for faults: replies must depend on the request alone. */
  times: z.number().int().positive().optional(),
  /** Waits until `release(name)`. */
  hold: z.boolean().default(false),
  /** After how many chunks of a stream it waits, if it holds: 0 is before the answer begins. */
  hold_after: z.array(z.number().int().nonnegative()).default([0]),
  delay_ms: z.number().nonnegative().default(0),
  /** Milliseconds between chunks. */
  pace_ms: z.number().nonnegative().default(0),
  /** Chunks per packet. */
  batch: z.number().int().positive().default(1),
  /** Characters per chunk. Default: one word. */
  chunk_size: z.number().int().positive().optional(),
  /** Default: the echo of `echo.ts`. */
  reply: replySchema.optional(),
  fault: faultSchema.optional(),
});
/** What the server does with requests that match; the first matching rule wins. JSON, so that other processes can set it. */
export type Rule = z.infer<typeof ruleSchema>;
export type RuleInput = z.input<typeof ruleSchema>;
export type Fault = NonNullable<Rule["fault"]>;

/** Checks rules. @throws Error that names the rule's place and field */
export function parseRules(rules: unknown): Rule[] {
  const parsed = z.array(ruleSchema).safeParse(rules);
  if (!parsed.success) throw new Error(`Bad rules: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
