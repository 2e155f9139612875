import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { secretHosts } from "../../secrets/secret-hosts.ts";
import { SETTING_NAMES } from "../../service/settings.ts";
import type { ServerSettings } from "../server/settings.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

export interface ServeOptions {
  host: string;
  port: number;
  /** The directory of the state. */
  state: string;
  /** Files with variables of the Worker. */
  envFile: readonly string[];
}

/** The settings of which one is enough for the API to require credentials. */
const CREDENTIALS = ["API_KEYS", "OPERATOR_KEY_HASH", "JWT_ISSUER"];

/**
 * @param environment settings of the Worker are taken from it, and take precedence over those of the files
 * @param own variables of the Worker's configuration
 * @throws CliError naming the invalid option or setting
 */
export function readServeSettings(
  root: string,
  { host, port, state, envFile }: ServeOptions,
  environment: NodeJS.ProcessEnv,
  own: Readonly<Record<string, unknown>>,
): ServerSettings {
  const files = Object.assign({}, ...envFile.map((path) => readVariables(resolve(root, path))));
  const settings: Record<string, string> = { ...files };
  for (const name of [...SETTING_NAMES, ...secretHosts({ ...files, ...environment }).keys()]) {
    const value = environment[name];
    if (value) settings[name] = value;
  }
  const texts = Object.entries(own).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  const worker = { ...Object.fromEntries(texts), ...settings };
  const open = worker["TROUPE_OPEN"] === "1";
  if (open && !isLoopback(host)) {
    throw new CliError(
      `TROUPE_OPEN is 1, which opens the API to everyone who reaches ${host}. A server that other machines reach requires keys: remove TROUPE_OPEN, or listen on 127.0.0.1.`,
      { exitCode: EXIT.usage, code: "usage" },
    );
  }
  return {
    port,
    persistTo: resolve(root, state),
    open,
    generateKeys: !open && !CREDENTIALS.some((name) => worker[name]),
    fromEnvironment: settings,
    worker,
  };
}

/** @throws CliError */
function readVariables(file: string): Record<string, string | undefined> {
  try {
    return parseEnv(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CliError(`--env-file: ${file} cannot be read: ${(error as Error).message}`, {
      exitCode: EXIT.usage,
      code: "usage",
    });
  }
}

function isLoopback(host: string): boolean {
  if (isIP(host) === 0) return host === "localhost";
  return host === "::1" || host.startsWith("127.");
}
