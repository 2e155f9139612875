import * as z from "zod";
import { idSchema, timeSchema } from "../common.ts";
import { costSchema, tokenUsageSchema } from "../usage/usage-schemas.ts";

const spanKindSchema = z
  .enum([
    "run",
    "queue",
    "recovery",
    "turn",
    "invoke_agent",
    "chat",
    "execute_tool",
    "step",
    "wait",
    "attempt",
    "backoff",
  ])
  .describe(
    "queue: before the run started. recovery: from the last thing recorded before an interruption to the restart. step: an effect that is neither a model nor a tool. wait: for a human. attempt: at a step that was tried again. backoff: from a failed attempt to the next one, for example because of a rate limit.",
  );

const spanIdSchema = z.string().regex(/^[0-9a-f]{16}$/);

export const traceSpanSchema = z.object({
  span_id: spanIdSchema.describe("The same whenever the turn runs again."),
  parent_span_id: spanIdSchema.nullable().describe("Null for the run."),
  kind: spanKindSchema,
  name: z.string().describe("By OpenTelemetry's conventions: chat gpt-4o."),
  status: z.enum(["running", "ok", "error", "cancelled"]),
  error_type: z.string().nullable(),
  started_at: timeSchema,
  ended_at: timeSchema.nullable().describe("Null while it lasts."),
  duration_ms: z.number().int().min(0).nullable(),
  turn: z.number().int().min(0).nullable().describe("The team's turn."),
  path: z.string().nullable().describe("The path of the agent or step, below the turn."),
  attempts: z
    .number()
    .int()
    .min(1)
    .nullable()
    .describe("The attempts at a step, those that failed included; null for other spans."),
  recovered: z
    .boolean()
    .describe("Whether its result was recorded before an interruption and used again."),
  discarded: z
    .boolean()
    .describe(
      "Whether its result was recorded before an interruption and could not be used: the step asked for something else when its turn ran again.",
    ),
  agent: z.string().nullable(),
  tool: z.string().nullable(),
  provider: z.string().nullable().describe("Who runs the model."),
  model: z.string().nullable(),
  usage: tokenUsageSchema.nullable().describe("The usage of a model call that has ended."),
  cost: costSchema.describe("The cost of a model call, at the present price."),
  note: z
    .string()
    .optional()
    .describe(
      "What the client left out of the request to a model, so that its server accepted it: asked without thinking ...",
    ),
});

export type TraceSpan = z.infer<typeof traceSpanSchema>;

/** The spans of a run. */
export const runTraceSchema = z.object({
  run_id: idSchema,
  team_id: idSchema,
  trace_id: z
    .string()
    .regex(/^[0-9a-f]{32}$/)
    .describe("The caller's, by traceparent; otherwise the run's id without hyphens."),
  spans: z
    .array(traceSpanSchema)
    .describe("The run and what is around its turns on the first page, then turn by turn."),
  dropped_spans: z.number().int().min(0).describe("Left out of turns with more than 100 spans."),
  next_cursor: z.string().nullable(),
});

export type RunTrace = z.infer<typeof runTraceSchema>;
