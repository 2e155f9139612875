import { ValueError } from "../core/errors.ts";
import { isServiceUrl, type SandboxAddress, type SandboxFetch } from "./sandbox-client.ts";

/** The settings and the binding of a Worker that say where code runs. */
export interface SandboxSettings {
  SANDBOX_URL?: string;
  SANDBOX_KEY?: string;
  /** A service binding: asked directly, whatever the address says. */
  SANDBOX?: { fetch: SandboxFetch };
}

/** What a binding is asked by when SANDBOX_URL does not say: the name leads nowhere. */
const BOUND_URL = "https://sandbox.internal";

/**
 * Where the sandbox is; undefined when no setting says so. The operator names it, so it may be any address, also a private
 * one that ALLOWED_EGRESS does not name.
 *
 * @param open whether this is somebody's own machine, where plain http will do
 * @throws ValueError naming the setting that is wrong
 */
export function sandboxAddress(
  { SANDBOX_URL, SANDBOX_KEY, SANDBOX }: SandboxSettings,
  open: boolean,
): SandboxAddress | undefined {
  const url = SANDBOX_URL?.trim() || (SANDBOX && BOUND_URL);
  if (url === undefined) return undefined;
  if (!isServiceUrl(url)) {
    throw new ValueError(
      "SANDBOX_URL must be an http:// or https:// address, without user, query and fragment",
    );
  }
  if (SANDBOX === undefined && !open && !url.toLowerCase().startsWith("https:")) {
    throw new ValueError("SANDBOX_URL must be an https:// address: code and key are sent there");
  }
  return {
    url,
    apiKey: SANDBOX_KEY?.trim() || undefined,
    ...(SANDBOX && { fetch: (input, init) => SANDBOX.fetch(input, init) }),
  };
}
