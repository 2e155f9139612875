import * as z from "zod";
import { tokenUsageSchema } from "../usage/usage-schemas.ts";
import { idSchema, timeSchema } from "../common.ts";
import { listedRequestSchema, listedRunSchema, listedTeamSchema } from "../directory.ts";
import { messageSchema } from "../message.ts";
import { problemSchema } from "../problem.ts";
import { runSchema } from "../run.ts";

// The frames of server-sent events, as an EventSource gives them: `event` is the name, "message" for a frame without one;
// `data` is parsed.

/** The last item of a completed run (AutoGen `TaskResult`, with the ids of its messages, which the stream had before). */
export const runResultSchema = z.object({
  type: z.literal("TaskResult"),
  stop_reason: z.string().nullable(),
  usage: tokenUsageSchema,
  message_ids: z.array(z.string()),
});
export type RunResultFrame = z.infer<typeof runResultSchema>;

/** The text so far of a message in progress. */
export const textSchema = z.object({
  full_message_id: z
    .string()
    .nullable()
    .describe("The id that the message will have; null where the text goes by its source."),
  source: z.string(),
  content: z.string(),
});
export type TextFrame = z.infer<typeof textSchema>;

export const discardSchema = textSchema.omit({ content: true });
export type DiscardFrame = z.infer<typeof discardSchema>;

/** An attempt at a step that failed and is followed by another one. */
export const retryingSchema = z.object({
  agent: z
    .string()
    .nullable()
    .describe("The innermost agent that waits; null for the team's manager."),
  step: z.string().describe("Path of the model call or other step, below the turn."),
  attempt: z.number().int().min(1).describe("The attempt that failed: 1 is the first one."),
  error: z.object({ type: z.string().describe("Stable code."), message: z.string() }),
  next_attempt_at: timeSchema,
});
export type RetryingFrame = z.infer<typeof retryingSchema>;

export const retractSchema = z.object({ message_ids: z.array(z.string()) });
export type RetractFrame = z.infer<typeof retractSchema>;

const recorded = z
  .string()
  .regex(/^\d+$/)
  .describe("Its cursor: the stream goes on after it with Last-Event-ID.");

/** A frame of the stream of a run or a team. */
export const streamFrameSchema = z.discriminatedUnion("event", [
  z
    .object({
      event: z.literal("message"),
      id: recorded
        .optional()
        .describe("Pieces of text (ModelClientStreamingChunkEvent) have none."),
      data: z.union([runResultSchema, messageSchema]),
    })
    .describe("A message, an event, or the result, which ends the stream of its run."),
  z
    .object({ event: z.literal("run"), id: recorded.optional(), data: runSchema })
    .describe("The run changed. With an id: it was cancelled, which ends its stream."),
  z
    .object({ event: z.literal("caught_up"), data: z.object({}) })
    .describe("All recorded frames were sent; later ones are live."),
  z
    .object({ event: z.literal("snapshot"), data: textSchema })
    .describe("Replaces the text shown so far."),
  z
    .object({ event: z.literal("discard"), data: discardSchema })
    .describe("The text is void: the model is called again."),
  z
    .object({ event: z.literal("retrying"), data: retryingSchema })
    .describe("A model or another dependency could not be reached: when it is tried again."),
  z
    .object({ event: z.literal("retract"), id: recorded, data: retractSchema })
    .describe("These messages are void: their turn was abandoned."),
  z
    .object({
      event: z.literal("failed"),
      id: recorded,
      data: problemSchema.extend({ run_id: idSchema }),
    })
    .describe("The run failed, which ends its stream."),
]);
export type StreamFrame = z.infer<typeof streamFrameSchema>;

/** A frame of the stream of a tenant. */
export const tenantFrameSchema = z.discriminatedUnion("event", [
  z.object({ event: z.literal("team"), id: recorded, data: listedTeamSchema }),
  z.object({ event: z.literal("run"), id: recorded, data: listedRunSchema }),
  z.object({ event: z.literal("request"), id: recorded, data: listedRequestSchema }),
  z.object({
    event: z.literal("request_closed"),
    id: recorded,
    data: z.object({ id: z.string(), team_id: idSchema }),
  }),
  z.object({ event: z.literal("team_deleted"), id: recorded, data: z.object({ id: idSchema }) }),
]);
export type TenantFrame = z.infer<typeof tenantFrameSchema>;
