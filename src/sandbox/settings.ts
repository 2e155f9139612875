import { ValueError } from "../core/errors.ts";
import { isServiceUrl } from "./service-url.ts";
import type { SandboxAddress, SandboxFetch } from "./sandbox-connection.ts";

/** The settings and the binding of a Worker for its sandbox. */
export interface SandboxSettings {
  SANDBOX_URL?: string;
  SANDBOX_KEY?: string;
  /** A service binding: receives all requests, whatever their host. */
  SANDBOX?: { fetch: SandboxFetch };
}

/** The URL for a binding without SANDBOX_URL. The host does not exist. */
const BOUND_URL = "https://sandbox.internal";

/**
 * The address of the sandbox; undefined when none is configured. The operator configures it, so it may be a private address that
 * ALLOWED_EGRESS does not include.
 *
 * @param open whether the Worker runs in local mode, where plain http is allowed
 * @throws ValueError that names the invalid setting
 */
export function sandboxAddress(
  { SANDBOX_URL, SANDBOX_KEY, SANDBOX }: SandboxSettings,
  open: boolean,
): SandboxAddress | undefined {
  const url = SANDBOX_URL?.trim() || (SANDBOX && BOUND_URL);
  if (url === undefined) return undefined;
  if (!isServiceUrl(url)) {
    throw new ValueError(
      "SANDBOX_URL must be an http:// or https:// URL without user, query and fragment",
    );
  }
  if (SANDBOX === undefined && !open && !url.toLowerCase().startsWith("https:")) {
    throw new ValueError(
      "SANDBOX_URL must be an https:// URL, because code and the key are sent to it",
    );
  }
  return {
    url,
    apiKey: SANDBOX_KEY?.trim() || undefined,
    ...(SANDBOX && { fetch: (input, init) => SANDBOX.fetch(input, init) }),
  };
}
