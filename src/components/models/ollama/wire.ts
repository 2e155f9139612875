import * as z from "zod";

/** The owner of the data in `troupe`, as messages name it. */
export const OLLAMA = "ollama";

/** Lenient on purpose: newer servers add fields, older ones leave some out. */
const toolCallSchema = z.object({
  id: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: z.unknown() }),
});

const logprobSchema = z.object({
  token: z.string(),
  logprob: z.number(),
  bytes: z.array(z.number()).nullish(),
});

/** A line of a streamed answer of `/api/chat`, or the whole of one that is not streamed. */
export const chatAnswerSchema = z.object({
  message: z
    .object({
      content: z.string().nullish(),
      thinking: z.string().nullish(),
      tool_calls: z.array(toolCallSchema).nullish(),
    })
    .nullish(),
  done: z.boolean().nullish(),
  done_reason: z.string().nullish(),
  prompt_eval_count: z.number().int().nonnegative().nullish(),
  eval_count: z.number().int().nonnegative().nullish(),
  logprobs: z
    .array(logprobSchema.extend({ top_logprobs: z.array(logprobSchema).nullish() }))
    .nullish(),
  /** The only field of an error, also in the middle of a stream. Proxies in between may send an object. */
  error: z.union([z.string(), z.object({ message: z.string() })]).nullish(),
});
export type ChatAnswer = z.infer<typeof chatAnswerSchema>;

/** The error text of an answer; undefined if it reports none. */
export function errorOf({ error }: ChatAnswer): string | undefined {
  return typeof error === "object" ? error?.message : error;
}
