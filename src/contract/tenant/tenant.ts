import * as z from "zod";
import { idSchema, timeSchema } from "../common.ts";
import { costSchema, tokenUsageSchema } from "../usage/usage-schemas.ts";

const count = z.number().int().min(0);
const money = z.number().min(0).nullable();

/** The limits of a tenant. */
export const tenantLimitsSchema = z.strictObject({
  requests_per_second: count.describe("To the API, in one place of the network."),
  teams: count,
  keys: count.describe("That were made over the API."),
  team_tokens: count.describe("Team tokens and links that have not ended, over all teams."),
  active_runs: count.describe("Runs that are running, waiting or paused."),
  runs_per_minute: count,
  tokens_per_day: count
    .nullable()
    .describe("The tokens of runs that ended that day, UTC; null: no limit."),
  tokens_per_month: count.nullable().describe("The tokens of runs that ended that month, UTC."),
  cost_per_day: money.describe(
    "In the currency of MODEL_PRICES: of runs that ended that day, UTC, and of active ones; null: no limit.",
  ),
  cost_per_month: money.describe(
    "The cost of runs that ended that month, UTC, and of active ones.",
  ),
  collections: count.describe("Collections of documents."),
  memory_users: count.describe("Users of whom something is remembered."),
  team_tools: count.describe("Tools of teams' own for clients of MCP."),
  stored_bytes: count
    .nullable()
    .describe(
      "The bytes of all teams, memories and collections, as they report them; null: no limit.",
    ),
  stored_bytes_per_team: count.describe(
    "A team at its limit starts no run; a fork of it is refused.",
  ),
  streams_per_team: count.describe("Open at the same time."),
  streams_per_tenant: count.describe("Open at the same time, over all teams."),
  streams_per_credential: count.describe(
    "Streams of one team, or of the lists. One more closes the oldest of the credential.",
  ),
  message_bytes_per_minute: count.describe("The bytes of tasks and answers, per team."),
});

export type TenantLimits = z.output<typeof tenantLimitsSchema>;

export const putTenantSchema = z.strictObject({
  label: z.string().max(200, "must be at most 200 characters").nullable().optional(),
  limits: tenantLimitsSchema
    .partial()
    .optional()
    .describe("Overrides; those left out keep the deployment's default."),
});

export type PutTenant = z.output<typeof putTenantSchema>;

export const tenantSchema = z.object({
  id: z.string(),
  label: z.string().nullable(),
  limits: tenantLimitsSchema.describe("The limits in force: defaults and overrides."),
  teams: count,
  collections: count,
  memory_users: count.describe("Users of whom something is remembered."),
  team_tools: count.describe("Tools of teams' own for clients of MCP."),
  stored_bytes: count.describe(
    "The bytes that all teams, memories and collections store, as they report them.",
  ),
  active_runs: z.number().int().min(0),
  today: z
    .object({
      day: z.iso.date(),
      runs: count,
      failed: count,
      ...tokenUsageSchema.shape,
      cost: costSchema,
    })
    .describe("Of the runs that ended today, UTC."),
  created_at: timeSchema,
});

export type TenantInfo = z.output<typeof tenantSchema>;

/** A team, and the moment whose data it gets again. */
export const recoverTeamSchema = z.strictObject({
  team: idSchema,
  time: z.iso
    .datetime({
      offset: true,
      error: "must be a time with its offset, for example 2026-12-24T08:00:00+01:00",
    })
    .describe("In the last 30 days."),
});

export const tenantListSchema = z.object({
  tenants: z.array(z.object({ id: z.string(), label: z.string().nullable() })),
  next_cursor: z.string().nullable(),
});

export type TenantList = z.output<typeof tenantListSchema>;
