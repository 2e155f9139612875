import * as z from "zod";
import { tokenUsageSchema } from "../usage/usage-schemas.ts";
import { idSchema, timeSchema } from "../common.ts";
import { listedRequestSchema, listedRunSchema, listedTeamSchema } from "../directory.ts";
import { messageSchema } from "../message.ts";
import { problemSchema } from "../problem.ts";
import { runSchema } from "../run.ts";
import { turnSchema } from "../turn.ts";

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

const errorSchema = z.object({ type: z.string().describe("Stable code."), message: z.string() });

/** An attempt at a step that failed and is followed by another one. */
export const retryingSchema = z.object({
  agent: z
    .string()
    .nullable()
    .describe("The innermost agent that waits; null for the team's manager."),
  step: z.string().describe("Path of the model call or other step, below the turn."),
  attempt: z.number().int().min(1).describe("The attempt that failed: 1 is the first one."),
  error: errorSchema,
  next_attempt_at: timeSchema,
});
export type RetryingFrame = z.infer<typeof retryingSchema>;

/** The steps that are under way. */
export const activitySchema = z.object({
  run_id: idSchema,
  at: timeSchema.describe("The server's time, to show how long steps have lasted."),
  steps: z
    .array(
      z.object({
        agent: z
          .string()
          .nullable()
          .describe("The innermost agent that the step belongs to; null for the team's manager."),
        step: z.string().describe("Path of the step, below the turn."),
        kind: z
          .enum(["chat", "execute_tool", "step"])
          .describe("As in a trace: the call of a model, of a tool, or another effect."),
        name: z.string().nullable().describe("The name of the model or the tool."),
        call_id: z.string().nullable().describe("The model's id of the tool call."),
        attempt: z.number().int().min(1).describe("1 is the first one."),
        started_at: timeSchema.describe("When the first attempt began."),
        error: errorSchema.nullable().describe("Why the attempt before failed."),
        next_attempt_at: timeSchema
          .nullable()
          .describe("While it waits after a failed attempt: when it is tried again."),
        message_id: z
          .string()
          .nullable()
          .describe(
            "The message that its text is certain to be; null where the text may be a thought before calls of tools.",
          ),
      }),
    )
    .describe("In the order in which they began."),
});
export type ActivityFrame = z.infer<typeof activitySchema>;

/** A turn that was finished, and what its run has used so far. */
export const turnFrameSchema = turnSchema.extend({
  run: runSchema.pick({
    id: true,
    turns: true,
    turn: true,
    usage: true,
    cost: true,
    models: true,
  }),
});
export type TurnFrame = z.infer<typeof turnFrameSchema>;

export const retractSchema = z.object({ message_ids: z.array(z.string()) });
export type RetractFrame = z.infer<typeof retractSchema>;

/** A person changed what the team remembers. Contents are not repeated: what was erased must be gone. */
export const memoryEventSchema = z.object({
  change: z.enum(["added", "corrected", "forgotten", "run_forgotten", "erased"]),
  memories: z.array(z.string()).describe("The ids of the entries, where the change names any."),
  run_id: z.string().nullable().describe("The run whose learning was taken back."),
});
export type MemoryEventFrame = z.infer<typeof memoryEventSchema>;

const recorded = z
  .string()
  .regex(/^\d+$/)
  .describe("Its cursor: with it as Last-Event-ID, the stream continues after it.");

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
    .object({ event: z.literal("activity"), data: activitySchema })
    .describe("The steps that are under way; replaces those of the frame before."),
  z
    .object({ event: z.literal("turn"), data: turnFrameSchema })
    .describe("A turn was finished. Not repeated after a reconnect: read GET .../turns."),
  z
    .object({ event: z.literal("retract"), id: recorded, data: retractSchema })
    .describe("These messages are void: their turn was abandoned."),
  z
    .object({ event: z.literal("memory"), id: recorded, data: memoryEventSchema })
    .describe("A person changed what the team remembers."),
  z
    .object({
      event: z.literal("failed"),
      id: recorded,
      data: problemSchema.extend({
        run_id: idSchema,
        agent: z.string().optional().describe("The agent that failed, where one did."),
      }),
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
