import * as z from "zod";
import { ValueError } from "../core/errors.ts";
import { timeSchema } from "./common.ts";

const limit = z.number().int().min(0);

/** What a tenant may use. */
export const tenantLimitsSchema = z.strictObject({
  requests_per_second: limit.describe("To the API, in one place of the network."),
});

export type TenantLimits = z.output<typeof tenantLimitsSchema>;

export const DEFAULT_TENANT_LIMITS: TenantLimits = { requests_per_second: 100 };

/**
 * The defaults with what the settings change: `TENANT_REQUESTS_PER_SECOND=500`.
 *
 * @throws ValueError when a setting is no whole number
 */
export function tenantLimitsFrom(settings: { readonly [name: string]: unknown }): TenantLimits {
  const limits = { ...DEFAULT_TENANT_LIMITS };
  for (const name of Object.keys(limits) as (keyof TenantLimits)[]) {
    const setting = settings[`TENANT_${name.toUpperCase()}`];
    if (setting === undefined || setting === "") continue;
    const value = Number(setting);
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new ValueError(
        `TENANT_${name.toUpperCase()} is ${JSON.stringify(setting)}: it must be a whole number, 0 or more`,
      );
    }
    limits[name] = value;
  }
  return limits;
}

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
  created_at: timeSchema,
});

export type TenantInfo = z.output<typeof tenantSchema>;

export const tenantListSchema = z.object({
  tenants: z.array(z.object({ id: z.string(), label: z.string().nullable() })),
  next_cursor: z.string().nullable(),
});

export type TenantList = z.output<typeof tenantListSchema>;
