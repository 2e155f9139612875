import * as z from "zod";
import { timeSchema } from "./common.ts";
import { tenantLimits } from "./tenant-limits.ts";

export const tenantLimitsSchema = tenantLimits();

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
  limits: tenantLimitsSchema.describe("As they hold: defaults and overrides."),
  teams: z.number().int().min(0),
  active_runs: z.number().int().min(0),
  created_at: timeSchema,
});

export type TenantInfo = z.output<typeof tenantSchema>;

export const tenantListSchema = z.object({
  tenants: z.array(z.object({ id: z.string(), label: z.string().nullable() })),
  next_cursor: z.string().nullable(),
});

export type TenantList = z.output<typeof tenantListSchema>;
