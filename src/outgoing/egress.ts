import { TroupeError, ValueError } from "../core/errors.ts";
import { isLoopbackHost, isNeverAsked, isPublicHost } from "./public-hosts.ts";
import { trimEnd } from "../core/text/trim-end.ts";
import { secretHosts, type Settings } from "../secrets/secret-hosts.ts";

/** An outgoing request that is not allowed. Trying again does not help. */
export class EgressError extends TroupeError {
  readonly retryable = false;
  /** The refused host: name and port. */
  readonly host: string;

  constructor(host: string, message: string) {
    super("egress_denied", message, { data: { host } });
    this.host = host;
  }
}

/**
 * The addresses that the name of a host may resolve to: public ones, this machine as well, or all but those that are never asked.
 */
export type Reach = "public" | "local" | "private";

/**
 * Refuses requests that the rules do not allow.
 *
 * @throws EgressError naming the host and the setting that would allow it
 */
export function checkEgress(target: string | URL, rules: EgressRules): Reach {
  const { allowed, open, setting = "ALLOWED_EGRESS" } = rules;
  const url = parseTarget(target);
  const host = plainHost(url);
  const named = names(rules, url);
  const exact = namesExactly(rules, url);
  const kind = open ? "private address" : "private or local address";
  if (url.username !== "" || url.password !== "") {
    throw new EgressError(
      host,
      `The URL of "${host}" holds a user name or password. Send the credentials in a header.`,
    );
  }
  if (isNeverAsked(host)) {
    throw new EgressError(
      host,
      `"${host}" is a ${kind} (link-local or a cloud's metadata service). Troupe never sends requests to it.`,
    );
  }
  if (!isPublicHost(host) && !(open ? isLoopbackHost(host) || named : exact)) {
    throw new EgressError(
      host,
      open
        ? `"${host}" is a ${kind}; to allow it, name it in ${setting}.`
        : `"${host}" is a ${kind}; to allow it, name host and port in ALLOWED_EGRESS: "${exactEntry(url)}".`,
    );
  }
  if (allowed !== null && !named) {
    throw new EgressError(
      host,
      `Requests to "${withPort(url, host)}" are not allowed; to allow them, name it in ${setting}.`,
    );
  }
  if (url.protocol !== "https:" && !open && !named && !exact) {
    throw new EgressError(
      host,
      `"${host}" would be asked over ${url.protocol}//, which is not encrypted. Use https://, or name "${url.protocol}//${withPort(url, host)}" in ${setting}.`,
    );
  }
  if (open) return named ? "private" : "local";
  return exact ? "private" : "public";
}

/**
 * Refuses an address of this machine that a document of another one names: an agent's card, or the metadata of a server.
 *
 * @param from the address of the document
 * @param to what it names
 * @throws EgressError unless the settings name that address
 */
export function checkReferral(
  from: string | URL,
  to: string | URL,
  rules: EgressRules = { allowed: null, open: true },
): void {
  const url = parseTarget(to);
  const host = plainHost(url);
  const source = parseTarget(from);
  if (!isLoopbackHost(host) || isLoopbackHost(plainHost(source)) || names(rules, url)) return;
  throw new EgressError(
    host,
    `"${source.host}" names "${url.host}", an address of this machine; to allow it, name it in ${rules.setting ?? "ALLOWED_EGRESS"}.`,
  );
}

/** @throws EgressError for an invalid URL, and for one of another protocol */
export function parseTarget(target: string | URL): URL {
  let url;
  try {
    url = target instanceof URL ? target : new URL(target);
  } catch {
    throw new EgressError("", "The URL of an outgoing request is invalid.");
  }
  if (url.protocol === "https:" || url.protocol === "http:") return url;
  throw new EgressError(
    url.host,
    `Requests over "${url.protocol}" are not possible; use https: or http:.`,
  );
}

function withPort(url: URL, host: string): string {
  return url.port === "" ? host : `${host}:${url.port}`;
}

export interface EgressRules {
  /**
   * Hosts that may be asked: `api.openai.com`, `*.example.com` (any name below it), with a port `example.com:8443`,
   * or with a scheme where that is not https `http://models.example.com`. Null: any public host.
   */
  allowed: readonly string[] | null;
  /** Local open mode: plain http, this machine, and private hosts that `allowed` names are allowed. */
  open: boolean;
  /**
   * Entries that may name private addresses in the other modes: those with a host and a port, `http://10.0.0.5:11434`, and no
   * wildcard count. Default: none.
   */
  exact?: readonly string[];
  /** The setting to which a host is to be added, for errors. Default: ALLOWED_EGRESS. */
  setting?: string;
}

/** The rules by the setting ALLOWED_EGRESS; deployed without it, only the hosts that secrets may be sent to. */
export function egressRules(settings: Settings): EgressRules {
  const open = settings["TROUPE_OPEN"] === "1";
  const setting = settings["ALLOWED_EGRESS"];
  const entries = hostEntries("ALLOWED_EGRESS", setting);
  if (entries.length > 0) return { allowed: entries, open, exact: entries };
  return { allowed: open ? null : [...secretHosts(settings).values()].flat(), open };
}

/**
 * The entries of a setting that lists hosts.
 *
 * @param also an entry that is not a host and allowed
 * @throws ValueError naming the setting and the entry
 */
export function hostEntries(name: string, setting: unknown, also?: string): string[] {
  const entries = (typeof setting === "string" ? setting : "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean);
  const wrong = entries.find((entry) => entry !== also && !HOST_ENTRY.test(entry));
  if (wrong === undefined) return entries;
  throw new ValueError(
    `${name} has ${JSON.stringify(wrong)}: it must be a host such as api.example.com, *.example.com, example.com:8443 or http://models.example.com${also === undefined ? "" : `, or ${also}`}`,
  );
}

/** Scheme, name and port. */
const HOST_ENTRY = /^(?:(https?):\/\/)?(\[[^\]/]*\]|(?:\*\.)?[^:/*?#@[\]]+)(?::(\d+))?\/?$/;

/** True if one of the allowed hosts is that of the URL. */
export function names({ allowed, open }: EgressRules, url: URL): boolean {
  return allowed?.some((entry) => matches(entry, url, open)) === true;
}

/** True if a setting names host and port of the URL, so that the operator means this server wherever it is. */
export function namesExactly({ exact = [] }: Pick<EgressRules, "exact">, url: URL): boolean {
  return exact.some((entry) => {
    const [, , name = "", port = ""] = HOST_ENTRY.exec(entry) ?? [];
    return port !== "" && !name.startsWith("*.") && matches(entry, url, false);
  });
}

/** URLs keep the dot at the end of a name, which does not change the destination. */
export function plainHost({ hostname }: URL): string {
  return hostname.endsWith(".") ? trimEnd(hostname, ".") : hostname;
}

/** In open mode neither the scheme nor the port matters unless the entry has it. */
function matches(entry: string, url: URL, open: boolean): boolean {
  const [, scheme = "https", name = "", port = ""] = HOST_ENTRY.exec(entry) ?? [];
  if (!open && `${scheme}:` !== url.protocol) return false;
  if (port === "" ? !open && url.port !== "" : port !== portOf(url)) return false;
  const host = plainHost(url);
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) : host === asInUrls(name);
}

/** An address as URLs write it, however the entry does: `[0:0:0:0:0:0:0:1]`, `0x7f.1`, `localhost.`. */
function asInUrls(name: string): string {
  return URL.canParse(`http://${name}`) ? plainHost(new URL(`http://${name}`)) : name;
}

/** The entry of a setting that names the server of a URL exactly. */
export function exactEntry(url: URL): string {
  return `${url.protocol === "https:" ? "" : "http://"}${plainHost(url)}:${portOf(url)}`;
}

function portOf(url: URL): string {
  return url.port !== "" ? url.port : url.protocol === "https:" ? "443" : "80";
}
