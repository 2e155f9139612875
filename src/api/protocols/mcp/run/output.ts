import * as z from "zod";
import { humanRequestSchema } from "../../../../contract/run.ts";

/** The structured content of the tools that are about a run. */
export const runOutputSchema = z.object({
  team_id: z.string(),
  run_id: z.string(),
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

export type RunOutput = z.output<typeof runOutputSchema>;
