import { isScope, type Scope, SCOPES } from "../../contract/constants.ts";
import { equalInConstantTime } from "../../core/equal.ts";
import { ValueError } from "../../core/errors.ts";
import { fieldIssues, type FieldRule } from "../../core/field-checks.ts";
import { listIssues } from "../../core/issues.ts";
import { isTenantId, type Principal } from "./principal.ts";

const FORM = "a list of { hash, tenant, scopes, name? }";
const HASH = /^[0-9a-f]{64}$/;

interface StaticKey {
  hash: string;
  tenant: string;
  scopes: Scope[];
  name?: string;
}

const RULES: Record<keyof StaticKey, FieldRule> = {
  hash: {
    accepts: (value) => typeof value === "string" && HASH.test(value),
    message: "must be the SHA-256 of the key as 64 hex digits in lower case",
  },
  tenant: {
    accepts: (value) => typeof value === "string" && isTenantId(value),
    message: "must be 1 to 63 lower-case letters, digits and hyphens",
  },
  scopes: {
    accepts: (value) => Array.isArray(value) && value.every(isScope),
    message: `must be a list of ${SCOPES.join(", ")}, or such as approvals:finance`,
  },
  name: {
    accepts: (value) => typeof value === "string" && value.length <= 200,
    message: "must be a text of at most 200 characters",
    optional: true,
  },
};

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
      throw new ValueError(`API_KEYS must be JSON: ${FORM}`);
    }
    if (!Array.isArray(value)) throw new ValueError(`API_KEYS must be ${FORM}`);
    const issues = value.flatMap((key, index) => fieldIssues(key, RULES, `[${index}]`));
    if (issues.length === 0) return new StaticKeys(value as StaticKey[]);
    throw new ValueError(`API_KEYS must be ${FORM}: ${listIssues(issues)}`);
  }

  /** The ids of the principals of a tenant's keys. */
  ids(tenant: string): string[] {
    return this.#keys.filter((key) => key.tenant === tenant).map(idOf);
  }

  /** Compares with every key, so that the time does not reveal a near match. @param hash the credential's hash */
  find(hash: string): Principal | undefined {
    let found: StaticKey | undefined;
    for (const key of this.#keys) if (equalInConstantTime(key.hash, hash)) found ??= key;
    return (
      found && {
        id: idOf(found),
        tenant: found.tenant,
        scopes: found.scopes,
        kind: "static",
        name: found.name ?? null,
        expires_at: null,
      }
    );
  }
}

function idOf({ hash }: StaticKey): string {
  return `static:${hash}`;
}

/** @param setting `OPERATOR_KEY_HASH` @throws ValueError when it is not a SHA-256 in hex */
export function parseOperatorHash(setting: string): string {
  if (HASH.test(setting)) return setting;
  throw new ValueError(
    "OPERATOR_KEY_HASH must be the SHA-256 of the operator key as 64 hex digits in lower case",
  );
}
