import { SANDBOX_HOST } from "../../outgoing/dependencies.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";

/** The binding of the objects that have a container each. */
export interface ContainersBinding {
  getByName: (name: string) => { fetch: (url: string, init: RequestInit) => Promise<Response> };
}

/** The object that answers what concerns no session. */
const SHARED = "shared";

/** The address of containers, one for each session. The host does not exist. */
export function sessionContainers(containers: ContainersBinding): SandboxAddress {
  return {
    url: `https://${SANDBOX_HOST}`,
    fetch: (url, init) => containers.getByName(sessionOf(url) ?? SHARED).fetch(url, init),
  };
}

/** The session that a request of the sandbox's protocol is about. */
function sessionOf(url: string): string | undefined {
  const [, session] = /^\/v1\/sessions\/([^/]+)/.exec(new URL(url).pathname) ?? [];
  return session === undefined ? undefined : `session ${decodeURIComponent(session)}`;
}
