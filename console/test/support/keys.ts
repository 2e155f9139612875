import { createHash } from "node:crypto";

/** An entry of the setting `API_KEYS`. */
export function keyOf(key: string, scopes: readonly string[]): object {
  const hash = createHash("sha256").update(key).digest("hex");
  return { hash, tenant: "test", scopes };
}
