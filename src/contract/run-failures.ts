import * as z from "zod";
import { idSchema, timeSchema } from "./common.ts";
import { MOST_LATEST_FAILURES } from "./constants.ts";

const count = z.number().int().min(0);

const failureGroupSchema = z.object({
  error: z.string().describe("The type of the error."),
  message: z.string().describe("Ids and numbers in it are replaced by …"),
  agent: z.string().nullable().describe("The agent that failed; null for none or an unknown one."),
  component_version: z.number().int().min(1).nullable(),
  count,
  teams: count.describe("The number of teams whose runs these are."),
  first_at: timeSchema.describe("When the first of them ended."),
  last_at: timeSchema,
  retryable: count.describe(
    "Those that are the latest run of their team: only these can be retried, the others cannot.",
  ),
  latest: z
    .array(z.object({ team_id: idSchema, run_id: z.string() }))
    .describe(`The retryable ones, the first ${MOST_LATEST_FAILURES}.`),
});

export const failureListSchema = z.object({
  groups: z.array(failureGroupSchema).describe("The one that failed last comes first."),
  complete: z.boolean().describe("False if only the latest 10,000 failed runs were looked at."),
  next_cursor: z.string().nullable().describe("Pass as cursor; null at the end."),
});

export type FailureList = z.output<typeof failureListSchema>;
export type FailureGroup = FailureList["groups"][number];

export interface FailureQuery {
  /** Ended then or later; epoch milliseconds. */
  since?: number;
  limit: number;
  cursor?: string;
  /** Only of the teams of this user. */
  team_user?: string;
}
