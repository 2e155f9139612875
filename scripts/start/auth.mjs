import { createHash } from "node:crypto";
import { SCOPES } from "#contract/key.ts";

/**
 * The keys of `npm start -- --auth`.
 *
 * @typedef {object} LocalKey
 * @property {string} key
 * @property {string} file that it is kept in
 * @property {boolean} generated whether it was generated at this start
 *
 * @typedef {object} Credentials
 * @property {LocalKey} operatorKey
 * @property {LocalKey} apiKey
 */

/** That of the server without credentials, so that it has the same teams. */
const TENANT = "local";

/**
 * The settings of the Worker for these keys: hashes only.
 *
 * @param {Credentials} credentials
 */
export function authVars({ operatorKey, apiKey }) {
  const key = {
    hash: sha256(apiKey.key),
    tenant: TENANT,
    scopes: SCOPES,
    name: "npm start --auth",
  };
  return { API_KEYS: JSON.stringify([key]), OPERATOR_KEY_HASH: sha256(operatorKey.key) };
}

/** @param {string} text */
function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}
