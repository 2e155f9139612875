import type { CallToolResult, InputRequiredResult, Result } from "@modelcontextprotocol/server";
import * as z from "zod";
import { humanRequestSchema } from "../../../../contract/run.ts";

/** The structured content of the tools that are about a run. */
export const runOutputSchema = z.object({
  team_id: z.string(),
  run_id: z.string(),
  conversation: z
    .string()
    .optional()
    .describe("Of a run of a template: continues the conversation in a later call."),
  status: z.enum(["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"]),
  text: z.string().nullable().describe("The team's last message, once the run is completed."),
  stop_reason: z.string().nullable(),
  error: z.object({ type: z.string(), message: z.string() }).nullable(),
  requests: z
    .array(
      humanRequestSchema.pick({
        id: true,
        kind: true,
        source: true,
        prompt: true,
        code: true,
        tool_call: true,
        form: true,
      }),
    )
    .describe("Questions to a human: answer each with answer_request."),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }),
});

/** The structured content as the tools declare it: each of them repeats it, so the optional parts of requests are left open. */
export const declaredRunOutputSchema = runOutputSchema.extend({
  requests: z
    .array(humanRequestSchema.pick({ id: true, kind: true, source: true, prompt: true }).loose())
    .describe("Questions to a human: answer each with answer_request."),
});

export type RunOutput = z.output<typeof runOutputSchema>;

/** The answer of a tool: its result, its first questions, or the task that has the result later. */
export type McpToolResult = CallToolResult | InputRequiredResult | Result;
