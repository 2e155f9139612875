import { type Scope, SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import type { TestWorker } from "../../../support/worker.ts";

/** The origin whose pages may ask the Worker. */
export const ORIGIN = "https://app.example.com";

export function bearer(key: string): { authorization: string } {
  return { authorization: `Bearer ${key}` };
}

/**
 * Settings of a deployed Worker whose keys are named after what they permit: those of tenants everything in their
 * tenant, a scope this scope alone, in the tenant `acme`.
 */
export async function deployed(
  settings: Record<string, string> = {},
  tenants: readonly string[] = ["acme", "globex"],
): Promise<Record<string, string>> {
  const keys = [
    ...tenants.map((tenant) => ({ key: tenant, tenant, scopes: SCOPES })),
    ...SCOPES.map((scope) => ({ key: scope, tenant: "acme", scopes: [scope] })),
  ].map(async ({ key, ...own }) => ({ hash: await sha256Hex(key), ...own }));
  return {
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify(await Promise.all(keys)),
    ALLOWED_ORIGINS: ORIGIN,
    TENANT_REQUESTS_PER_SECOND: "1000",
    ...settings,
  };
}

/** A token of a team of the tenant `acme`. */
export async function teamToken(
  worker: TestWorker,
  team: string,
  scopes: readonly Scope[],
): Promise<string> {
  const made = await worker.fetch(
    `/v1/teams/${team}/tokens`,
    jsonInit({ scopes, expires_in: 300 }, "POST", bearer("acme")),
  );
  return ((await made.json()) as { token: string }).token;
}
