import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { RequestListener } from "node:http";
import { type Context, Hono } from "hono";
import { answerUnmatched, problemDocumentResponse } from "../src/http/problem-document.ts";
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
    return answerUnmatched(
      c.req.method,
      methodsAt(c.req.path, endpoints),
      ({ status, code, detail }, headers = {}) =>
        problemResponse(new ProblemError(status, code, detail, { headers })),
    );
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
  return problemDocumentResponse(problem.toJSON(), problem.status, problem.headers);
}

/** The methods that the endpoints at a path have. */
function methodsAt(path: string, endpoints: readonly Endpoint[]): string[] {
  return endpoints
    .filter((endpoint) => toPattern(endpoint.path).test(path))
    .map(({ method }) => method.toUpperCase());
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
