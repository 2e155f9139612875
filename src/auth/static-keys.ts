import * as z from "zod";
import { SCOPES } from "../contract/constants.ts";
import { ValueError } from "../core/errors.ts";
import { lazy } from "../core/lazy.ts";
import { listIssues, issuesOf } from "../core/issues.ts";
import { equalInConstantTime } from "../core/equal.ts";

import { isTenantId, type Principal } from "./principal.ts";

const HASH = /^[0-9a-f]{64}$/;

const staticKeySchema = lazy(() =>
  z.strictObject({
    hash: z.string().regex(HASH, "must be the SHA-256 of the key as 64 hex digits in lower case"),
    tenant: z.string().refine(isTenantId, "must be 1 to 63 lower-case letters, digits and hyphens"),
    scopes: z.array(z.enum(SCOPES)),
    name: z.string().max(200).optional(),
  }),
);

type StaticKey = z.output<ReturnType<typeof staticKeySchema>>;

/** Keys that the operator configures; checking one needs no storage. */
export class StaticKeys {
  readonly #keys: readonly StaticKey[];

  private constructor(keys: readonly StaticKey[]) {
    this.#keys = keys;
  }

  /** @param setting `API_KEYS` @throws ValueError saying which entry is wrong */
  static parse(setting: string): StaticKeys {
    let value: unknown;
    try {
      value = JSON.parse(setting);
    } catch {
      throw new ValueError("API_KEYS must be JSON: a list of { hash, tenant, scopes, name? }");
    }
    const result = z.array(staticKeySchema()).safeParse(value);
    if (result.success) return new StaticKeys(result.data);
    throw new ValueError(
      `API_KEYS must be a list of { hash, tenant, scopes, name? }: ${listIssues(issuesOf(result.error))}`,
    );
  }

  /** Compares with every key, so that the time does not reveal a near match. @param hash of the credential */
  find(hash: string): Principal | undefined {
    let found: StaticKey | undefined;
    for (const key of this.#keys) if (equalInConstantTime(key.hash, hash)) found ??= key;
    return (
      found && {
        tenant: found.tenant,
        scopes: found.scopes,
        kind: "static",
        name: found.name ?? null,
        expires_at: null,
      }
    );
  }
}

/** @param setting `OPERATOR_KEY_HASH` @throws ValueError when it is no SHA-256 in hex */
export function parseOperatorHash(setting: string): string {
  if (HASH.test(setting)) return setting;
  throw new ValueError(
    "OPERATOR_KEY_HASH must be the SHA-256 of the operator key as 64 hex digits in lower case",
  );
}
