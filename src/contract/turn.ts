import * as z from "zod";
import { describedJson, idSchema, timeSchema } from "./common.ts";
import { costSchema, tokenUsageSchema, usageByModelSchema } from "./usage/usage-schemas.ts";

const milliseconds = z.number().int().min(0);

const speakerSchema = z.object({
  agent: z.string().nullable().describe("Null for the team's manager."),
  duration_ms: milliseconds.describe("From its first step to the end of its last one."),
  thought_ms: milliseconds
    .nullable()
    .describe("How long its models streamed their reasoning; null if none did."),
  models: usageByModelSchema.describe("Its own model calls, without those of agents inside it."),
  cost: costSchema,
});

const answerSchema = z.object({
  answer: describedJson("A boolean or a text, as far as the model keeps to it."),
  reason: describedJson("A text, as far as the model keeps to it."),
});

const ledgersSchema = z.object({
  task_ledger: z
    .object({ facts: z.string(), plan: z.string() })
    .nullable()
    .describe("Null if it is that of the turn before; the first turn of a page always has it."),
  progress_ledger: z.object({
    rounds: z.number().int().min(0).describe("Progress ledgers since the team was reset."),
    stalls: z.number().int().min(0),
    next: z.enum(["task", "plan", "work", "replan"]).describe("What the orchestrator does next."),
    entry: z
      .object({
        is_request_satisfied: answerSchema,
        is_in_loop: answerSchema,
        is_progress_being_made: answerSchema,
        next_speaker: answerSchema,
        instruction_or_question: answerSchema,
      })
      .nullable()
      .describe("Answers with their reasons; null before the first."),
  }),
});

const nestedLedgersSchema = ledgersSchema.extend({
  team: z
    .array(z.string())
    .describe(
      "The names of the participants around it, the outermost first: how it is found in the component.",
    ),
  task_ledger: ledgersSchema.shape.task_ledger.describe(
    "Null if it is that of the entry before; the first entry of a team in a turn always has it.",
  ),
});

/** A finished turn of a team. */
export const turnSchema = z.object({
  turn: z.number().int().min(1).describe("The team's turn."),
  run_id: idSchema.nullable().describe("Null for a reset, a loaded state or a new component."),
  started_at: timeSchema,
  ended_at: timeSchema,
  message_ids: z.array(z.string()).describe("Its messages and events, in their order."),
  usage: tokenUsageSchema.describe("The usage of the model calls in the turn."),
  cost: costSchema,
  agents: z.array(speakerSchema).describe("Who worked in it, in the order of their first steps."),
  ledgers: ledgersSchema
    .nullable()
    .describe("The ledgers of a Magentic-One team; null for other teams."),
  nested_ledgers: z
    .array(nestedLedgersSchema)
    .describe(
      "The ledgers of Magentic-One teams inside participants, which take several turns of their own in one of the team: an entry for each that changed a ledger, up to 100.",
    ),
});

export type TurnInfo = z.infer<typeof turnSchema>;
export type TurnSpeaker = TurnInfo["agents"][number];
export type NestedLedgers = TurnInfo["nested_ledgers"][number];
export type TurnLedgers = NonNullable<TurnInfo["ledgers"]>;

export const turnPageSchema = z.object({
  turns: z.array(turnSchema).describe("Oldest first."),
  next_after: z.number().int().nullable().describe("Pass as after; null at the end."),
  next_before: z.number().int().nullable().describe("Pass as before; null at the beginning."),
});

export type TurnPage = z.infer<typeof turnPageSchema>;

/** Selects the turns after a turn, or the last ones before it. */
export interface TurnQuery {
  after?: number | undefined;
  before?: number | undefined;
  limit: number;
}
