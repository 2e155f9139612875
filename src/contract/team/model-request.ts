import * as z from "zod";
import { idSchema, timeSchema } from "../common.ts";
import { tokenUsageSchema } from "../usage/usage-schemas.ts";

/** The most characters of the messages, the body and the reply of an answer, each. Longer ones are shortened. */
export const MOST_REQUEST_CHARACTERS = 500_000;

const anObject = z.record(z.string(), z.unknown());

const partSchema = z.object({
  part: z
    .enum(["system", "memory", "history", "tools"])
    .describe(
      "system: the instructions. memory: system messages that memories added. history: everything else that was said. tools: the declarations of tools.",
    ),
  messages: z.number().int().min(0).describe("How many messages, or tools."),
  tokens: z.number().int().min(0),
});

const failedAttemptSchema = z.object({
  attempt: z.number().int().min(1),
  started_at: timeSchema.nullable(),
  ended_at: timeSchema.nullable(),
  error: z.object({ type: z.string(), message: z.string().nullable() }),
  text: z
    .string()
    .nullable()
    .describe("What had arrived of a streamed answer, up to 16,384 characters."),
});

/** The request of a model call of a run, and its answer. */
export const modelRequestSchema = z.object({
  run_id: idSchema,
  team_id: idSchema,
  span_id: z.string(),
  turn: z.number().int().min(0),
  path: z.string(),
  agent: z.string().nullable(),
  model: z.string().nullable(),
  provider: z.string().nullable(),
  matches: z
    .boolean()
    .nullable()
    .describe(
      "Requests are not stored; this one was built again from what is stored. true: it has the fingerprint of the request that was sent. false: it differs, for instance because the code of the server has changed. null: nothing to compare with was kept.",
    ),
  messages: z
    .array(anObject)
    .describe("The messages, in AutoGen's form, whatever the API of the model's server is."),
  tools: z.array(anObject),
  parameters: anObject.describe(
    "The rest of the body: the model, temperature, response format. Without a body, the options of the call.",
  ),
  body: anObject
    .nullable()
    .describe(
      "The body as its client sends it to the model's server; null for clients without one.",
    ),
  server_path: z.string().nullable().describe("The path of the URL, below the server's address."),
  note: z.string().nullable().describe("What was left out, so that the server accepted it."),
  reply: anObject
    .nullable()
    .describe("The recorded answer (AutoGen's CreateResult); null without one."),
  error: z
    .object({ type: z.string(), message: z.string() })
    .nullable()
    .describe("Why the call failed in the end."),
  failed_attempts: z.array(failedAttemptSchema).describe("Those that were followed by another."),
  cut_off: z
    .string()
    .nullable()
    .describe("What had arrived of the answer when the last attempt failed."),
  context: z
    .object({
      parts: z.array(partSchema),
      total: z.number().int().min(0),
      method: z
        .enum(["tokenizer", "length"])
        .describe("How the tokens were estimated: with the model's tokenizer, or by length."),
      prompt_tokens: z
        .number()
        .int()
        .nullable()
        .describe("As the model's server counted them; null while it has not."),
      window: z
        .number()
        .int()
        .nullable()
        .describe("The context window of the model, if it is known."),
    })
    .describe("What fills the context, in estimated tokens."),
  usage: tokenUsageSchema.nullable(),
  shortened: z
    .object({
      longest_text: z.number().int().min(1),
      messages_left_out: z.number().int().min(0),
    })
    .nullable()
    .describe(
      "Set when something was too long to be shown whole: long texts are shortened, and the oldest messages are left out.",
    ),
});

export type ModelRequest = z.infer<typeof modelRequestSchema>;
