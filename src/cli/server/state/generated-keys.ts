import { createHash } from "node:crypto";
import { SCOPES } from "../../../contract/constants.ts";

/** A key that a server has generated. */
export interface LocalKey {
  key: string;
  /** The file that stores it. */
  file: string;
  /** True if it was generated at this start. */
  generated: boolean;
}

export interface LocalKeys {
  operatorKey: LocalKey;
  apiKey: LocalKey;
}

/** The tenant of the server without credentials, so that both see the same teams. */
const TENANT = "local";

/**
 * The settings of the Worker for these keys: hashes only.
 *
 * @param name the name of the API key
 */
export function authVars({ operatorKey, apiKey }: LocalKeys, name: string): Record<string, string> {
  const key = {
    hash: sha256(apiKey.key),
    tenant: TENANT,
    scopes: SCOPES,
    name,
  };
  return { API_KEYS: JSON.stringify([key]), OPERATOR_KEY_HASH: sha256(operatorKey.key) };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
