import type { Context, Hono } from "hono";
import { Hono as TinyHono } from "hono/tiny";
import type { Authenticate, Principal } from "./auth.ts";
import { discardBody } from "./body.ts";
import { readCall } from "./call.ts";
import { type Endpoint, json } from "./endpoint.ts";
import { openApiDocument } from "./openapi.ts";
import { INTERNAL_PROBLEM, logLine, ProblemError, problemOf, problemResponse } from "./problem.ts";
import { runActionEndpoints } from "./routes/run-actions.ts";
import { runEndpoints } from "./routes/runs.ts";
import { serviceEndpoints } from "./routes/service.ts";
import { streamEndpoints } from "./routes/streams.ts";
import { teamEndpoints } from "./routes/teams.ts";
import type { Services } from "./services.ts";

export interface AppOptions extends Services {
  authenticate: Authenticate;
  /** Shown in the OpenAPI document. */
  version: string;
  /** Writes a line about an internal error; never holds contents of a request. */
  log: (line: string) => void;
}

/** The HTTP API as a Hono app. */
export function createApp(options: AppOptions): Hono {
  const { authenticate, log } = options;
  const described = [
    ...teamEndpoints(options),
    ...runEndpoints(options),
    ...streamEndpoints(),
    ...runActionEndpoints(options),
    ...serviceEndpoints(options),
  ];
  const endpoints = [...described, openApiEndpoint(described, options.version)];

  // Its router needs almost no preparation, which every start of the Worker would pay for.
  const app = new TinyHono();
  app.onError((error) => {
    const refusal = problemOf(error);
    if (refusal) return problemResponse(refusal.problem, refusal.headers);
    log(logLine(error));
    return problemResponse(INTERNAL_PROBLEM);
  });
  app.use(async (c, next) => {
    try {
      await next();
    } finally {
      // Hono does not catch what the not-found handler throws.
      await discardBody(c.req.raw);
    }
  });
  app.notFound(async (c) => {
    await admit(authenticate, c.req.raw);
    return notFound(c, endpoints);
  });
  for (const endpoint of endpoints) {
    app.on(endpoint.method.toUpperCase(), endpoint.path, async (c) => {
      const principal = endpoint.scope === null ? ANONYMOUS : await admit(authenticate, c.req.raw);
      requireScope(endpoint, principal);
      return endpoint.handle(await readCall(endpoint, c, principal, options));
    });
  }
  return app;
}

/** The caller of an endpoint without a scope. */
const ANONYMOUS: Principal = { tenant: "", scopes: [] };

async function admit(authenticate: Authenticate, request: Request): Promise<Principal> {
  const answer = await authenticate(request);
  if ("problem" in answer) throw new ProblemError(answer.problem);
  return answer;
}

function requireScope({ scope }: Endpoint, { scopes }: Principal): void {
  if (scope === null || scopes.includes(scope)) return;
  throw new ProblemError({
    status: 403,
    code: "missing_scope",
    detail: `This key lacks the scope ${scope}.`,
  });
}

/** 404 for an unknown path; 405 with the allowed methods for a known one, which also answers OPTIONS. */
function notFound(c: Context, endpoints: readonly Endpoint[]): Response {
  const methods = endpoints
    .filter(({ path }) => toPattern(path).test(c.req.path))
    .map(({ method }) => method.toUpperCase());
  if (methods.length === 0) {
    return problemResponse({
      status: 404,
      code: "not_found",
      detail: "There is nothing at this path; GET /v1/openapi.json lists all paths.",
    });
  }
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
  return problemResponse(
    {
      status: 405,
      code: "method_not_allowed",
      detail: `${c.req.method} is not allowed here; ${allow} are.`,
    },
    { allow },
  );
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/:\w+/g, "[^/]+")}$`);
}

function openApiEndpoint(others: readonly Endpoint[], version: string): Endpoint {
  let document: unknown;
  const self: Endpoint = {
    method: "get",
    path: "/v1/openapi.json",
    id: "openApi",
    summary: "This description",
    tag: "Service",
    scope: "teams:read",
    answers: { 200: { description: "OpenAPI 3.1.", schema: "OpenApi" } },
    async handle() {
      document ??= openApiDocument([...others, self], version);
      return json(document);
    },
  };
  return self;
}
