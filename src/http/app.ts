import type { Context, Hono } from "hono";
import { Hono as TinyHono } from "hono/tiny";
import type { Authenticate } from "../auth/principal.ts";
import { Admission } from "./access/admission.ts";
import { type AllowedOrigins, cors } from "./access/cors.ts";
import { discardBody } from "./input/body.ts";
import { readCall } from "./call.ts";
import type { WriteProblem } from "./endpoint.ts";
import { type Operation, operationsOf, type RouteModule } from "./operations.ts";
import { INTERNAL_PROBLEM, internalErrorLine, problemOf, problemResponse } from "./problem.ts";
import { RequestRate } from "./access/rate-limit.ts";
import { endWithCredential, RECHECK_MS } from "./access/revocation.ts";
import type { Services } from "./services.ts";

export interface AppOptions extends Services {
  authenticate: Authenticate;
  origins: AllowedOrigins;
  /** The deployment's limit for a tenant without an override. */
  requestsPerSecond: number;
  /** Milliseconds after which an open stream's credential is checked again. */
  recheckMs?: number;
  /** Shown in the OpenAPI document. */
  version: string;
  /** Other protocols over the same services. */
  protocols?: readonly RouteModule[];
  /** Writes a line about an internal error; never holds contents of a request. */
  log: (line: string) => void;
}

/** The HTTP API as a Hono app. */
export function createApp(options: AppOptions): Hono {
  const { authenticate, log, recheckMs = RECHECK_MS } = options;
  const operations = operationsOf(options, options.protocols ?? [], options.version);

  // Its router needs almost no preparation, which every start of the Worker would pay for.
  const app = new TinyHono();
  const refused = (error: unknown, write: WriteProblem = problemResponse): Response => {
    const refusal = problemOf(error);
    if (refusal) return write(refusal.problem, refusal.headers);
    log(internalErrorLine(error));
    return write(INTERNAL_PROBLEM);
  };
  app.onError((error) => refused(error));
  app.use(async (c, next) => {
    await next();
    await discardBody(c.req.raw);
  });
  const withTeamToken = new WeakSet<Request>();
  app.use(cors(options.origins, (request) => withTeamToken.has(request)));
  const rate = new RequestRate(options.tenants, options.requestsPerSecond);
  const admission = new Admission(authenticate, rate, options.gateway);
  /** How problems are written of a path that no operation has. */
  const writeOther = async (path: string): Promise<WriteProblem> => {
    const others = options.protocols?.find((one) =>
      path.startsWith(`${one.others?.below}/`),
    )?.others;
    return others === undefined ? problemResponse : others.write();
  };
  app.notFound(async (c) => {
    const write = await writeOther(c.req.path);
    // What this handler throws would go past the middleware.
    try {
      const caller = await admission.admit(c.req.raw);
      if ("problem" in caller) return write(caller.problem, caller.headers);
      return notFound(c, operations, write);
    } catch (error) {
      return refused(error, write);
    }
  });
  for (const operation of operations) {
    app.on(operation.method, operation.path, async (c) => {
      const request = c.req.raw;
      const endpoint = await operation.endpoint();
      const write = endpoint.refusal?.write ?? problemResponse;
      try {
        const principal = await admission.admitTo(endpoint, request, c.req.param("team"));
        if ("problem" in principal) return write(principal.problem, principal.headers);
        if (principal.kind === "team") withTeamToken.add(request);
        const call = await readCall(endpoint, c, principal, options);
        const response = await endpoint.handle(call);
        return endWithCredential(response, principal, admission.again, request, recheckMs);
      } catch (error) {
        return refused(error, write);
      }
    });
  }
  return app;
}

/** 404 for an unknown path; 405 with the allowed methods for a known one, which also answers OPTIONS. */
function notFound(c: Context, operations: readonly Operation[], write: WriteProblem): Response {
  const methods = operations
    .filter(({ path }) => toPattern(path).test(c.req.path))
    .map(({ method }) => method);
  if (methods.length === 0) {
    return write({
      status: 404,
      code: "not_found",
      detail: "There is nothing at this path; GET /v1/openapi.json lists all paths.",
    });
  }
  const allow = [...methods, ...(methods.includes("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
  if (c.req.method === "OPTIONS") return new Response(null, { status: 204, headers: { allow } });
  return write(
    {
      status: 405,
      code: "method_not_allowed",
      detail: `${c.req.method} is not allowed here; ${allow} are.`,
    },
    { allow },
  );
}

function toPattern(path: string): RegExp {
  const pattern = path
    .replaceAll(".", "\\.")
    .replaceAll(/(?<=\/):\w+(?:\{(.*?)\})?/g, (_, given: string | undefined) => given ?? "[^/]+");
  return new RegExp(`^${pattern}$`);
}
