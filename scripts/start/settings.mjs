import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { secretHosts } from "#secrets/secret-hosts.ts";
import { SETTING_NAMES } from "#settings.ts";

/**
 * What `npm start` was told: by its environment, and for settings of the Worker by `.dev.vars`, too.
 *
 * @typedef {object} StartSettings
 * @property {number} port
 * @property {string} persistTo
 * @property {boolean} open whether the API is open to local requests
 * @property {Record<string, string>} fromEnvironment settings and secrets of the Worker
 * @property {Record<string, string | undefined>} worker the same, with those of .dev.vars
 */

/**
 * @param {string} root of the project
 * @param {NodeJS.ProcessEnv} environment
 * @param {boolean} [auth] whether keys are generated, which closes the API to other requests
 * @returns {StartSettings}
 * @throws Error naming the setting that is wrong
 */
export function readSettings(root, environment, auth = false) {
  const file = join(root, ".dev.vars");
  const devVars = existsSync(file) ? parseEnv(readFileSync(file, "utf8")) : {};
  const secrets = secretHosts({ ...devVars, ...withoutEmpty(environment) }).keys();
  /** @type {Record<string, string>} */
  const fromEnvironment = {};
  for (const name of [...SETTING_NAMES, ...secrets]) {
    const value = environment[name];
    if (value) fromEnvironment[name] = value;
  }
  const worker = { ...devVars, ...fromEnvironment };
  if (auth) requireNoCredentials(worker);
  return {
    port: readPort(environment.PORT),
    persistTo: resolve(root, environment.PERSIST_TO || ".troupe/state"),
    open: !auth && isOpen(worker["TROUPE_OPEN"]),
    fromEnvironment,
    worker,
  };
}

/** `--auth` sets these. */
const SET_BY_AUTH = ["API_KEYS", "OPERATOR_KEY_HASH"];

/** @param {Record<string, string | undefined>} worker */
function requireNoCredentials(worker) {
  const given = SET_BY_AUTH.find((name) => worker[name]);
  if (given !== undefined) {
    throw new Error(
      `${given} is set: --auth generates keys of its own. To take yours, start without --auth and with TROUPE_OPEN=0.`,
    );
  }
  if (worker["TROUPE_OPEN"] === "1") {
    throw new Error("TROUPE_OPEN is 1 (open to this machine): leave it out with --auth.");
  }
}

/** @param {NodeJS.ProcessEnv} environment */
function withoutEmpty(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
}

/** @param {string | undefined} text */
function readPort(text) {
  if (text === undefined || text === "") return 8787;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 65_535) {
    throw new Error(`PORT is "${text}": it must be a number from 1 to 65535.`);
  }
  return number;
}

/** @param {string | undefined} text */
function isOpen(text) {
  if (text === undefined || text === "" || text === "1") return true;
  if (text === "0") return false;
  throw new Error(`TROUPE_OPEN is "${text}": it must be 1 (open to this machine) or 0 (closed).`);
}
