import * as z from "zod";
import { costSchema, tokenUsageSchema } from "./usage-schemas.ts";

/** The groupings of a report's rows. */
export const USAGE_GROUPS = ["day", "team", "model", "user"] as const;

export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** A day, UTC: `2026-11-22`. */
const daySchema = z.iso.date("must be a date like 2026-11-22");

const count = z.number().int().min(0);

const failed = count
  .optional()
  .describe("The runs that failed, of those that ended. Missing by model and by user.");

const totals = {
  runs: count.describe("That ended. By model: that called it."),
  turns: count.describe("The turns of these runs."),
  ...tokenUsageSchema.shape,
  cost: costSchema,
};

export const usageReportSchema = z.object({
  from: daySchema,
  to: daySchema.describe("Included."),
  usage: z.array(
    z.object({
      day: daySchema.optional(),
      team: z.string().optional(),
      team_label: z
        .string()
        .nullable()
        .optional()
        .describe("Beside team: its label; null without one, and for a team that was deleted."),
      model: z.string().optional(),
      user: z.string().optional().describe("Missing in the row of runs without a user."),
      failed,
      ...totals,
    }),
  ),
  total: z.object({ failed, ...totals }),
});

export type UsageReport = z.output<typeof usageReportSchema>;
export type UsageTotals = Omit<UsageReport["total"], "failed">;

export interface UsageQuery {
  /** First and last day, UTC, both included. */
  from: string;
  to: string;
  by: readonly UsageGroup[];
  /** Only of the teams of this user. */
  team_user?: string;
}
