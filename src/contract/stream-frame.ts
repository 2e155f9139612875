import * as z from "zod";
import { requestUsageSchema } from "../core/models/llm-messages.ts";
import { messageSchema } from "./message.ts";
import { problemSchema } from "./problem.ts";
import { runSchema } from "./run.ts";

/** How a run ended; its messages came before, and `message_ids` names them in order. */
export const taskResultSchema = z.object({
  type: z.literal("TaskResult"),
  stop_reason: z.string().nullable(),
  usage: requestUsageSchema,
  message_ids: z.array(z.string()),
});

export type TaskResultFrame = z.infer<typeof taskResultSchema>;

/** The message in progress that a text belongs to. */
const textSchema = z.object({
  full_message_id: z
    .string()
    .nullable()
    .describe("The id that the message will have. Null: the text belongs to its source."),
  source: z.string(),
});

const snapshotSchema = textSchema.extend({ content: z.string().describe("The text so far.") });

export type SnapshotFrame = z.infer<typeof snapshotSchema>;

const recorded = z.string().regex(/^\d+$/).describe("Reconnect with it as Last-Event-ID.");

/** A frame of a stream of server-sent events. `data` is JSON. A reader ignores events that it does not know. */
export const streamFrameSchema = z
  .union([
    z
      .object({ id: recorded.optional(), data: z.union([messageSchema, taskResultSchema]) })
      .describe("An item of the run. A ModelClientStreamingChunkEvent has no id."),
    z
      .object({ event: z.literal("run"), id: recorded.optional(), data: runSchema })
      .describe(
        "The run, at the beginning of each connection and when its status or its requests change. Status cancelled with an id ends the stream of the run.",
      ),
    z
      .object({ event: z.literal("caught_up"), data: z.object({}) })
      .describe("All recorded frames were sent; what follows is live."),
    z
      .object({ event: z.literal("snapshot"), data: snapshotSchema })
      .describe("Replaces the text of a message in progress."),
    z
      .object({ event: z.literal("discard"), data: textSchema })
      .describe("The text is void: the model is called again."),
    z
      .object({
        event: z.literal("retract"),
        id: recorded,
        data: z.object({ message_ids: z.array(z.string()) }),
      })
      .describe("These messages are void: their turn was abandoned."),
    z
      .object({ event: z.literal("failed"), id: recorded, data: problemSchema })
      .describe("The run failed. Ends the stream of the run."),
  ])
  .describe("A server-sent event. On the wire, data is JSON text.");

export type StreamFrame = z.infer<typeof streamFrameSchema>;
