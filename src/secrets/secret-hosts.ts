import { TroupeError, ValueError } from "../core/errors.ts";
import { isJsonObject } from "../core/json.ts";
import { isBehindGateway } from "./ai-gateway.ts";

/** A secret that does not exist or may not be sent to a host. Another attempt is useless. */
export class SecretError extends TroupeError {
  readonly retryable = false;
}

/** The hosts that each of the Worker's secrets may be sent to, with the port unless it is the scheme's default. */
export type SecretHosts = ReadonlyMap<string, readonly string[]>;

/** Stands for the sandbox, whose port `npm start` chooses, and is the host of one that is a service binding. */
export const SANDBOX_HOST = "sandbox.internal";

/** The settings and bindings of a Worker. */
export type Settings = { readonly [name: string]: unknown };

/**
 * The allow-list of the setting SECRET_HOSTS, for example `{"OPENAI_API_KEY": ["api.openai.com"]}`. Unless it says
 * otherwise, OPENAI_API_KEY may be sent to OpenAI's host and to that of OPENAI_BASE_URL. A secret that may be sent to a maker whose
 * server is behind the gateway of AI_GATEWAY_URL may be sent to the gateway.
 *
 * @throws ValueError for an invalid setting
 */
export function secretHosts(settings: Settings): SecretHosts {
  const hosts = new Map<string, readonly string[]>();
  const baseHost = hostOf(settings["OPENAI_BASE_URL"]);
  hosts.set("OPENAI_API_KEY", ["api.openai.com", ...(baseHost === undefined ? [] : [baseHost])]);
  for (const [name, list] of Object.entries(parse(text(settings["SECRET_HOSTS"]) ?? "{}"))) {
    hosts.set(name, list);
  }
  const gateway = hostOf(settings["AI_GATEWAY_URL"]);
  if (gateway === undefined) return hosts;
  return new Map(
    Array.from(hosts, ([name, list]) => [
      name,
      list.some(isBehindGateway) ? [...list, gateway] : list,
    ]),
  );
}

function hostOf(setting: unknown): string | undefined {
  const url = text(setting);
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}

/**
 * Looks up `env:NAME` among the Worker's secrets: only those of the allow-list, only for their hosts.
 *
 * @throws SecretError from the returned function
 */
export function secretResolver(settings: Settings): (reference: string, url: string) => string {
  const allowed = secretHosts(settings);
  const sandboxUrl = text(settings["SANDBOX_URL"]) ?? "";
  return (reference, url) => {
    const name = reference.replace(/^env:/, "");
    const hosts = allowed.get(name);
    if (hosts === undefined) {
      throw new SecretError(
        "secret_not_allowed",
        `"${reference}" may not be used. To allow it, add it to SECRET_HOSTS with its hosts. Allowed: ${[...allowed.keys()].join(", ")}.`,
      );
    }
    const host = URL.canParse(url) ? new URL(url).host : "";
    const toSandbox = URL.canParse(sandboxUrl) && new URL(sandboxUrl).host === host;
    if (!hosts.includes(host) && !(toSandbox && hosts.includes(SANDBOX_HOST))) {
      throw new SecretError(
        "secret_not_allowed",
        `"${reference}" may not be sent to "${host}", only to ${hosts.join(", ")}. To allow it, add the host to SECRET_HOSTS.`,
      );
    }
    const value = text(settings[name]);
    if (value === undefined) {
      throw new SecretError(
        "secret_not_set",
        `The secret ${name} is not set. Set it with "wrangler secret put ${name}", or as an environment variable of "npm start".`,
      );
    }
    return value;
  };
}

/** The names of the Worker's secrets that are set and may be sent to the host of a URL. */
export function secretsFor(settings: Settings, url: string): string[] {
  const host = URL.canParse(url) ? new URL(url).host : "";
  return [...secretHosts(settings)]
    .filter(([name, hosts]) => hosts.includes(host) && text(settings[name]) !== undefined)
    .map(([name]) => name);
}

/**
 * Looks up a setting that clients fall back on. A secret is returned as a reference, which is resolved when its
 * destination is known.
 */
export function settingOrReference(settings: Settings): (name: string) => string | undefined {
  const secrets = secretHosts(settings);
  return (name) => {
    const value = text(settings[name]);
    return value !== undefined && (secrets.has(name) || /_(KEY|TOKEN|SECRET)$/.test(name))
      ? `env:${name}`
      : value;
  };
}

function parse(setting: string): Record<string, string[]> {
  let value: unknown;
  try {
    value = JSON.parse(setting);
  } catch {
    value = undefined;
  }
  if (isJsonObject(value) && Object.values(value).every(isTextList)) {
    return value as Record<string, string[]>;
  }
  throw new ValueError(
    'SECRET_HOSTS must be JSON that names the hosts of each secret: {"OPENAI_API_KEY": ["api.openai.com"]}',
  );
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string" && one !== "");
}

function text(setting: unknown): string | undefined {
  return typeof setting === "string" && setting.trim() !== "" ? setting.trim() : undefined;
}
