import type { Tenants } from "../contract/gateways/tenant-gateway.ts";
import type { CredentialSources } from "./authenticate.ts";

/** Asks the tenant's object about keys that were made over the API. */
export function createdKeyCheck(tenants: Tenants): NonNullable<CredentialSources["createdKey"]> {
  return async (tenant, id, hash) => {
    const key = await tenants.tenant(tenant).verifyKey(id, hash);
    if (key === null) return undefined;
    const { name, scopes, expires_at } = key;
    return { id: `created:${id}`, tenant, scopes, kind: "created", name, expires_at };
  };
}
