import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { RequestListener } from "node:http";
import { type Context, Hono } from "hono";
import { requireAccess } from "./http/access.ts";
import { type Call, type Endpoint, json } from "./http/endpoint.ts";
import { openApiDocument } from "./http/openapi.ts";
import { executionEndpoints } from "./http/routes/executions.ts";
import { fileEndpoints } from "./http/routes/files.ts";
import { programEndpoints } from "./http/routes/programs.ts";
import { serviceEndpoints } from "./http/routes/service.ts";
import type { Services } from "./http/services.ts";
import { Target } from "./http/target.ts";
import { ProblemError } from "./problem.ts";

type Env = { Bindings: HttpBindings };

export interface AppOptions extends Omit<Services, "problemOf"> {
  /** Shown in the OpenAPI document. */
  version: string;
  /** Logs internal errors, never contents of a request. */
  log: (error: unknown) => void;
}

/** Creates the request listener of the HTTP server. */
export function createListener(options: AppOptions): RequestListener {
  const app = createApp(options);
  const listener = getRequestListener((request, bindings) => app.fetch(request, bindings), {
    // Called for malformed requests only: errors of the app are handled by the app.
    errorHandler: () =>
      problemResponse(new ProblemError(400, "malformed_request", "The request is not valid HTTP.")),
    overrideGlobalObjects: false,
  });
  return (incoming, outgoing) => void listener(incoming, outgoing);
}

function createApp(options: AppOptions): Hono<Env> {
  const { settings, log } = options;
  const problemOf = (error: unknown): ProblemError => {
    if (error instanceof ProblemError) return error;
    log(error);
    return new ProblemError(
      500,
      "internal_error",
      "The sandbox had an internal error, which was logged.",
    );
  };
  const services: Services = { ...options, problemOf };
  const endpoints = withOpenApi(
    [
      ...executionEndpoints(services),
      ...fileEndpoints(services),
      ...programEndpoints(services),
      ...serviceEndpoints(services),
    ],
    options.version,
  );

  const app = new Hono<Env>();
  app.onError((error) => problemResponse(problemOf(error)));
  for (const endpoint of endpoints) {
    app.on(endpoint.method.toUpperCase(), endpoint.path, (c) => {
      const target = new Target(c.env.incoming.url ?? "");
      requireAccess(settings, (name) => c.req.header(name), endpoint.open);
      return endpoint.handle(callOf(c, target));
    });
  }
  app.notFound((c) => {
    requireAccess(settings, (name) => c.req.header(name));
    return notFound(c, endpoints);
  });
  return app;
}

function callOf(c: Context<Env>, target: Target): Call {
  const gone = new AbortController();
  const { outgoing } = c.env;
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return {
    request: c.req.raw,
    session: () => target.session(),
    key: () => target.key(),
    program: () => target.program(),
    file: () => target.file(),
    gone: gone.signal,
  };
}

function problemResponse(problem: ProblemError): Response {
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...problem.headers,
    },
  });
}

/** Answers 405 with the allowed methods for a known path, otherwise 404. */
function notFound(c: Context<Env>, endpoints: readonly Endpoint[]): Response {
  const methods = endpoints
    .filter(({ path }) => toPattern(path).test(c.req.path))
    .map(({ method }) => method.toUpperCase());
  if (methods.length === 0)
    throw new ProblemError(
      404,
      "not_found",
      "There is no such path. GET /v1/openapi.json describes all paths.",
    );
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
  throw new ProblemError(
    405,
    "method_not_allowed",
    `${c.req.method} is not allowed here. Allowed: ${allow}.`,
    { headers: { allow } },
  );
}

function toPattern(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/:\w+\{(.*)\}/g, "$1").replaceAll(/:\w+/g, "[^/]+")}$`);
}

function withOpenApi(others: readonly Endpoint[], version: string): Endpoint[] {
  const all: Endpoint[] = [
    ...others,
    {
      method: "get",
      path: "/v1/openapi.json",
      id: "openApi",
      summary: "This description",
      answers: { 200: { description: "OpenAPI 3.1.", schema: "OpenApi" } },
      async handle() {
        return json(openApiDocument(all, version));
      },
    },
  ];
  return all;
}
