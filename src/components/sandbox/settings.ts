import { ValueError } from "../../core/errors.ts";
import { type EgressRules, exactEntry, namesExactly, plainHost } from "../../outgoing/egress.ts";
import { isLoopbackHost, isNeverAsked } from "../../outgoing/public-hosts.ts";
import { SANDBOX_HOST } from "../../outgoing/dependencies.ts";
import { isServiceUrl } from "./client/service-url.ts";
import type { SandboxAddress, SandboxFetch } from "./client/sandbox-connection.ts";

/** The settings and the binding of a Worker for its sandbox. */
export interface SandboxSettings {
  SANDBOX_URL?: string;
  SANDBOX_KEY?: string;
  /** A service binding: receives all requests, whatever their host. */
  SANDBOX?: { fetch: SandboxFetch };
  /** Set by a server on this machine, which may start a sandbox beside it. */
  TROUPE_FRONT_KEY?: string;
}

/** The URL for a binding without SANDBOX_URL. The host does not exist. */
const BOUND_URL = `https://${SANDBOX_HOST}`;

/**
 * The address of the sandbox; undefined when none is configured. The operator configures it, so it may be a private address that
 * ALLOWED_EGRESS does not include.
 *
 * @param rules plain http is allowed in local mode, and where they name the address exactly
 * @throws ValueError that names the invalid setting
 */
export function sandboxAddress(
  { SANDBOX_URL, SANDBOX_KEY, SANDBOX, TROUPE_FRONT_KEY }: SandboxSettings,
  rules: Pick<EgressRules, "open" | "exact">,
): SandboxAddress | undefined {
  const url = SANDBOX_URL?.trim() || (SANDBOX && BOUND_URL);
  if (url === undefined) return undefined;
  if (!isServiceUrl(url)) {
    throw new ValueError(
      "SANDBOX_URL must be an http:// or https:// URL without user, query and fragment",
    );
  }
  const target = new URL(url);
  if (isNeverAsked(plainHost(target))) {
    throw new ValueError(
      "SANDBOX_URL is a link-local address or that of a cloud's metadata service; Troupe never sends requests to it",
    );
  }
  const isBeside = TROUPE_FRONT_KEY !== undefined && isLoopbackHost(plainHost(target));
  const trusted = SANDBOX !== undefined || rules.open || isBeside || target.protocol === "https:";
  if (!trusted && !namesExactly(rules, target)) {
    throw new ValueError(
      `SANDBOX_URL must be an https:// URL, because code and the key are sent to it; or ALLOWED_EGRESS names it with its port: "${exactEntry(target)}"`,
    );
  }
  return {
    url,
    apiKey: SANDBOX_KEY?.trim() || undefined,
    ...(SANDBOX && { fetch: (input, init) => SANDBOX.fetch(input, init) }),
  };
}
