import { beginningOf } from "../../../core/cut.ts";
import { type Scope, SCOPES } from "../../../contract/constants.ts";
import type { Problem } from "../../../contract/problem.ts";
import { type Endpoint, endpoint, json } from "../endpoint/endpoint.ts";
import { ProblemError } from "../endpoint/problem.ts";

/** Prefix of the address of a resource's metadata, which the path of the resource follows (RFC 9728). */
export const METADATA_PATH = "/.well-known/oauth-protected-resource";

/** Seconds for which a client may keep the metadata. */
const VALID_SECONDS = 300;

/** A protected resource in OAuth's sense: a part of the service that clients get tokens for. */
export interface ProtectedResources {
  /** The authorization server whose identity tokens are accepted; undefined for none. */
  issuer: string | undefined;
  /** The address of the whole service, without a slash at its end: PUBLIC_URL where it is set, not what a Host header names. */
  baseUrl: (request: Pick<Request, "url">) => string;
}

const AGENT_SCOPES: readonly Scope[] = ["teams:read", "runs:read", "runs:write", "requests:write"];
/** Teams of templates are made for requests. */
const OPENAI_SCOPES: readonly Scope[] = SCOPES.slice(0, 4);

/** The resources besides the whole service, by their paths. */
const RESOURCES: readonly { path: RegExp; scopes: readonly Scope[] }[] = [
  { path: /^\/(?:mcp|a2a|ag-ui|ai-sdk)\/teams\/[^/]+/, scopes: AGENT_SCOPES },
  { path: /^\/mcp(?=\/|$)/, scopes: AGENT_SCOPES },
  { path: /^\/openai\/v1(?=\/|$)/, scopes: OPENAI_SCOPES },
];

/**
 * The resource that a path belongs to: its own path, and the scopes that its clients use. A client whose address has a slash at
 * its end compares that with the metadata, so the slash stays.
 */
function resourceOf(pathname: string): { path: string; scopes: readonly Scope[] } {
  for (const { path, scopes } of RESOURCES) {
    const [found] = path.exec(pathname) ?? [];
    if (found !== undefined) return { path: pathname === `${found}/` ? pathname : found, scopes };
  }
  return { path: pathname === "/" ? pathname : "", scopes: SCOPES };
}

/** The headers of a problem: what the caller of a request must have, where a credential is missing or does not suffice. */
export function challengeOf(
  { code, extra }: Problem,
  { url }: Request,
  { issuer, baseUrl }: ProtectedResources,
): Record<string, string> {
  const given = CHALLENGES[code];
  if (given === undefined) return {};
  const { path, scopes } = resourceOf(new URL(url).pathname);
  const fields = ['realm="troupe"', ...given];
  if (typeof extra?.scope === "string") fields.push(`scope="${extra.scope}"`);
  if (issuer !== undefined) {
    if (extra?.scope === undefined && path !== "") fields.push(`scope="${scopes.join(" ")}"`);
    fields.push(`resource_metadata="${baseUrl({ url })}${METADATA_PATH}${path}"`);
  }
  return { "www-authenticate": `Bearer ${fields.join(", ")}` };
}

/** The fields of a challenge (RFC 6750), by the codes of problems. */
const CHALLENGES: { readonly [code: string]: readonly string[] } = {
  missing_credentials: [],
  invalid_credentials: ['error="invalid_token"'],
  missing_scope: ['error="insufficient_scope"'],
};

/** The metadata of the whole service, and of a part of it. */
export function protectedResourceEndpoints(resources: ProtectedResources): Endpoint[] {
  const common = {
    method: "get" as const,
    tag: "Service" as const,
    scope: null,
    answers: { 200: { description: "The metadata (RFC 9728).", media: "application/json" } },
    problems: [404],
  };
  return [
    endpoint({
      ...common,
      path: METADATA_PATH,
      id: "protectedResource",
      summary: "Where clients of OAuth get tokens for this service",
      handle: async ({ c }) => metadata(c.req, resources),
    }),
    endpoint({
      ...common,
      path: `${METADATA_PATH}/:path{[^]+}`,
      id: "protectedResourcePart",
      summary: "Where clients of OAuth get tokens for a part of this service, such as /mcp",
      handle: async ({ c }) => metadata(c.req, resources),
    }),
  ];
}

/** @throws ProblemError 404 without an issuer, and for a path that is not a resource */
function metadata(
  { url }: Pick<Request, "url">,
  { issuer, baseUrl }: ProtectedResources,
): Response {
  if (issuer === undefined) {
    throw new ProblemError({
      status: 404,
      code: "issuer_not_configured",
      detail: "This server accepts keys and no tokens of OAuth: JWT_ISSUER is not set.",
    });
  }
  const named = new URL(url).pathname.slice(METADATA_PATH.length);
  const { path, scopes } = resourceOf(named);
  if (path !== named) {
    throw new ProblemError({
      status: 404,
      code: "not_found",
      detail: `${JSON.stringify(beginningOf(named, 100))} is not a protected resource. Protected resources are /mcp, /mcp/teams/{team}, /openai/v1 and the addresses of teams in the other protocols.`,
    });
  }
  const document = {
    resource: `${baseUrl({ url })}${path}`,
    authorization_servers: [issuer],
    scopes_supported: scopes,
    bearer_methods_supported: ["header"],
    resource_name: "Troupe",
  };
  return json(document, 200, {
    "cache-control": `public, max-age=${VALID_SECONDS}`,
    // Clients in pages read it before they have a credential.
    "access-control-allow-origin": "*",
  });
}
