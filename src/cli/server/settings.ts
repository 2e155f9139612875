import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { ValueError } from "../../core/errors.ts";
import {
  codeWord,
  parseSettings,
  settingsRefusal,
  type SettingValues,
} from "../../service/parse-settings.ts";
import { secretHosts } from "../../secrets/secret-hosts.ts";
import { KEY_BYTES, secretsKeyBytes } from "../../secrets/secrets-key.ts";
import { SETTING_NAMES } from "../../service/settings.ts";

/** The settings of a local server, from its environment. Those of the Worker may also be in `.dev.vars`. */
export interface ServerSettings {
  port: number;
  /** The directory of the state. */
  persistTo: string;
  /** True if the API is open to local requests. */
  open: boolean;
  /** True if keys are generated and required. */
  generateKeys: boolean;
  /** Settings and secrets of the Worker. */
  fromEnvironment: Record<string, string>;
  /** The same, together with `.dev.vars`. */
  worker: Readonly<Record<string, string | undefined>>;
}

/** The option of wrangler that names its configuration, in this argument or the next one. */
const CONFIG = /^(?:-c|--config)(?:=(.+))?$/;

/**
 * The files `.dev.vars` of a project and beside the configuration that arguments of wrangler name. Later ones take precedence.
 */
export function devVarsFiles(root: string, wranglerArguments: readonly string[] = []): string[] {
  const at = wranglerArguments.findIndex((argument) => CONFIG.test(argument));
  const [, inline] = CONFIG.exec(wranglerArguments[at] ?? "") ?? [];
  const named = inline ?? wranglerArguments[at + 1];
  const folders = new Set([root, dirname(resolve(root, (at >= 0 && named) || "wrangler.toml"))]);
  return [...folders].map((folder) => join(folder, ".dev.vars")).filter((file) => existsSync(file));
}

/**
 * @param root the folder of the project
 * @param auth whether keys are generated and required
 * @param files the files with settings
 * @throws Error naming the invalid setting
 */
export function readSettings(
  root: string,
  environment: NodeJS.ProcessEnv,
  auth = false,
  files: readonly string[] = devVarsFiles(root),
): ServerSettings {
  const devVars = Object.assign(
    {},
    ...files.map((file) => parseEnv(readFileSync(file, "utf8"))),
  ) as Record<string, string>;
  const secrets = secretHosts({ ...devVars, ...withoutEmpty(environment) }).keys();
  const fromEnvironment: Record<string, string> = {};
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
    generateKeys: auth,
    fromEnvironment,
    worker,
  };
}

/**
 * Checks the settings of the Worker before anything is started, with the Worker's own checks.
 *
 * @throws Error naming the invalid setting
 */
export function checkWorkerSettings({ worker, open }: ServerSettings): void {
  const set = Object.entries(worker).filter(([, value]) => value);
  const values: SettingValues = { ...Object.fromEntries(set), TROUPE_OPEN: open ? "1" : "0" };
  try {
    parseSettings(values);
    const key = values.SECRETS_KEY;
    if (key !== undefined && secretsKeyBytes(key) === undefined) {
      throw new ValueError(`SECRETS_KEY must be ${KEY_BYTES} bytes as base64`);
    }
  } catch (error) {
    throw new Error(settingsRefusal(error), { cause: error });
  }
}

/**
 * Checks that this machine has a sandbox that the Python of `--python` can be for.
 *
 * @throws Error
 */
export function requireSandboxHere(
  { worker }: Pick<ServerSettings, "worker">,
  hasSandbox: boolean,
): void {
  if (worker["SANDBOX_URL"]) {
    throw new Error(
      "--python is for the sandbox that the server starts, and SANDBOX_URL names another one: remove one of the two, or give that sandbox SANDBOX_PYTHON.",
    );
  }
  if (!hasSandbox) {
    throw new Error(
      "--python needs the sandbox of Troupe's repository, which is not here: start one there with SANDBOX_PYTHON, and set SANDBOX_URL to it; or name its folder by --sandbox of troupe serve.",
    );
  }
  const place = codeWord(worker["CODE"]);
  if (place === "off" || place === "loader") {
    throw new Error(
      `--python is for the sandbox, and CODE=${place} starts none: remove one of the two.`,
    );
  }
}

/** Settings that `--auth` sets. */
const SET_BY_AUTH = ["API_KEYS", "OPERATOR_KEY_HASH"];

function requireNoCredentials(worker: ServerSettings["worker"]): void {
  const conflicting = SET_BY_AUTH.find((name) => worker[name]);
  if (conflicting !== undefined) {
    throw new Error(
      `${conflicting} is set, but --auth generates its own keys. To use yours, start without --auth and with TROUPE_OPEN=0.`,
    );
  }
  if (worker["TROUPE_OPEN"] === "1") {
    throw new Error(
      "TROUPE_OPEN is 1 (open to this machine), which contradicts --auth: remove one of the two.",
    );
  }
}

function withoutEmpty(environment: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value));
}

function readPort(text: string | undefined): number {
  if (text === undefined || text === "") return 8787;
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 65_535) {
    throw new Error(`PORT is "${text}": it must be a number from 1 to 65535.`);
  }
  return number;
}

function isOpen(text: string | undefined): boolean {
  if (text === undefined || text === "" || text === "1") return true;
  if (text === "0") return false;
  throw new Error(`TROUPE_OPEN is "${text}": it must be 1 (open to this machine) or 0 (closed).`);
}
