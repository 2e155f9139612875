import type { Problem } from "../contract/problem.ts";

export type Scope = "teams:read" | "teams:write" | "runs:read" | "runs:write";

export const SCOPES: readonly Scope[] = ["teams:read", "teams:write", "runs:read", "runs:write"];

/** Who is asking, and what they may do. */
export interface Principal {
  tenant: string;
  scopes: readonly Scope[];
}

/** Says who sent a request, or why it is refused. */
export type Authenticate = (request: Request) => Promise<Principal | { problem: Problem }>;

/** Refuses everything: the answer of a deployment nobody has configured keys for. */
export const closed: Authenticate = async () => ({
  problem: {
    status: 503,
    code: "auth_not_configured",
    detail:
      "No keys are configured, so the API is closed. On your own machine, set TROUPE_OPEN=1 to open it to local requests.",
  },
});

/**
 * Lets everybody in who asks from this machine. Programs on the machine may; web pages of others may not, though
 * the browser that shows them runs here: their requests carry a foreign Origin, or a foreign Host once their name
 * was rebound to this address, or at least the browser's word that the request crosses sites.
 */
export const localOnly: Authenticate = async (request) => {
  const host = request.headers.get("host");
  if (!isLocalHost(new URL(request.url).host) || (host !== null && !isLocalHost(host))) {
    return foreign("Host", host ?? new URL(request.url).host);
  }
  const origin = request.headers.get("origin");
  if (origin !== null) {
    if (!isLocalOrigin(origin)) return foreign("Origin", origin);
  } else if (request.headers.get("sec-fetch-site") === "cross-site") {
    return foreign("Sec-Fetch-Site", "cross-site");
  }
  return { tenant: "local", scopes: SCOPES };
};

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function isLocalHost(host: string): boolean {
  return LOCAL_HOSTS.has(host.replace(/:\d+$/, "").toLowerCase());
}

function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match?.[1] !== undefined && isLocalHost(match[1]);
}

function foreign(header: string, value: string): { problem: Problem } {
  return {
    problem: {
      status: 403,
      code: "not_local",
      detail: `This server answers local requests only; ${header} is ${JSON.stringify(value.slice(0, 100))}.`,
    },
  };
}
