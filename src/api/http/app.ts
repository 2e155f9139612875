import type { Hono } from "hono";
import { Hono as TinyHono } from "hono/tiny";
import type { Authenticate, Refusal } from "../auth/principal.ts";
import { AccessControl, type Callers } from "./access/access-control.ts";
import { type AllowedOrigins, Cors } from "./access/cors.ts";
import { forEventSource } from "./access/event-source.ts";
import { discardBody } from "./input/body.ts";
import { readCall } from "./input/call.ts";
import { commandEndpoints } from "./endpoint/command-endpoints.ts";
import { answerUnmatched } from "../../http/problem-document.ts";
import { type Endpoint, json, type Match, type WriteProblem } from "./endpoint/endpoint.ts";
import {
  INTERNAL_PROBLEM,
  internalErrorLine,
  problemOf,
  problemResponse,
} from "./endpoint/problem.ts";
import { RequestRate } from "./access/rate-limit.ts";
import {
  challengeOf,
  METADATA_PATH,
  type ProtectedResources,
  protectedResourceEndpoints,
} from "./access/protected-resource.ts";
import { endWithCredential, RECHECK_MS } from "./access/revocation.ts";
import type { Services } from "./endpoint/services.ts";
import { PatternRouter } from "hono/router/pattern-router";
import { tryDecodeURIComponent } from "hono/utils/url";

export interface AppOptions extends Services {
  authenticate: Authenticate;
  /** The callers of requests that the Worker sends itself. */
  callers?: Callers;
  origins: AllowedOrigins;
  /** The metadata by which clients of OAuth find the server that issues tokens. */
  resources: ProtectedResources;
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
  const { log, recheckMs = RECHECK_MS } = options;
  const routing = new Routing([
    ...routeModules(options),
    {
      below: [METADATA_PATH],
      load: async () => protectedResourceEndpoints(options.resources),
    },
    ...(options.protocols ?? []),
    {
      below: [OPENAPI],
      load: async () => {
        const { openApiEndpoint } = await import("./openapi/document.ts");
        return [openApiEndpoint(OPENAPI, () => routing.all(), options.version)];
      },
    },
  ]);

  // Its router needs almost no preparation, which every start of the Worker would pay for.
  const app = new TinyHono();
  const refuse = (
    { problem, headers }: Refusal,
    request: Request,
    write: WriteProblem = problemResponse,
  ): Response =>
    write(problem, { ...challengeOf(problem, request, options.resources), ...headers });
  const failed = (error: unknown, request: Request, write?: WriteProblem): Response => {
    const refusal = problemOf(error);
    if (refusal) return refuse(refusal, request, write);
    log(internalErrorLine(error));
    return refuse({ problem: INTERNAL_PROBLEM }, request, write);
  };
  app.onError((error, c) => failed(error, c.req.raw));
  const withTeamToken = new WeakSet<Request>();
  const cors = new Cors(options.origins);
  app.use(async (c, next) => {
    const request = c.req.raw;
    const preflight = request.method === "OPTIONS" ? cors.preflight(request) : undefined;
    if (preflight === undefined) {
      await next();
      const { method, headers } = request;
      const header = (name: string): string | null => headers.get(name);
      const stream = c.res.ok ? undefined : forEventSource({ method, header }, c.res);
      if (stream !== undefined) c.res = stream;
      // Pages of all origins may read the stream in place of a refusal: it says nothing, and the token was perhaps not checked.
      cors.allow(header("origin"), c.res, stream !== undefined || withTeamToken.has(request));
    }
    if (request.body !== null && !request.bodyUsed) await discardBody(request.body);
    return preflight;
  });
  const rate = new RequestRate(options.tenants, options.requestsPerSecond);
  const admission = new AccessControl({ ...options, rate });
  app.all("*", async (c) => {
    const request = c.req.raw;
    // Hono answers HEAD with the headers of GET.
    const method = request.method === "HEAD" ? "GET" : request.method;
    let write: WriteProblem | undefined;
    try {
      const found = await routing.match(method, c.req.path);
      if (found === undefined) {
        write = await routing.writeOthers(c.req.path);
        const caller = await admission.admit(request);
        if ("problem" in caller) return refuse(caller, request, write);
        const methods = await routing.methods(c.req.path);
        return answerUnmatched(c.req.method, methods, write ?? problemResponse);
      }
      const { endpoint, parameters } = found;
      write = endpoint.refusal?.write ?? problemResponse;
      const principal = await admission.admitTo(endpoint, request, parameters["team"]);
      if ("problem" in principal) return refuse(principal, request, write);
      if (principal.kind === "team") withTeamToken.add(request);
      const call = await readCall(found, c, principal, options);
      const response = await endpoint.handle(call);
      return endWithCredential(response, principal, {
        revocation: (signal) => admission.revocation(principal, signal),
        authenticate: () => admission.again(request),
        recheckMs,
      });
    } catch (error) {
      return failed(error, request, write);
    }
  });
  return app;
}

const OPENAPI = "/v1/openapi.json";

/** The modules of most conversations come first; the rest is imported for a request that these do not answer. */
const routeModules = (services: Services): RouteModule[] => [
  {
    below: ["/healthz"],
    load: async () => {
      const [{ healthCommands }, { TABLES_HEADER, tableVersions }] = await Promise.all([
        import("../../contract/commands/health.ts"),
        import("../../contract/table-versions.ts"),
      ]);
      const headers = { [TABLES_HEADER]: tableVersions() };
      const health = async (): Promise<Response> =>
        json({ status: "ok", ...(await services.health()) }, 200, headers);
      return commandEndpoints(healthCommands, services, { health });
    },
  },
  {
    below: ["/v1/teams"],
    load: async () => {
      const [{ teamEndpoints }, { runEndpoints }] = await Promise.all([
        import("./routes/teams.ts"),
        import("./routes/runs.ts"),
      ]);
      return [...teamEndpoints(services), ...runEndpoints(services)];
    },
  },
  {
    below: ["/v1"],
    load: async () => (await import("./routes/management.ts")).managementEndpoints(services),
  },
];

/** Endpoints that are imported together, with the first request to an address of theirs. */
export interface RouteModule {
  /** Their paths: `/v1/teams` for itself and all that is below it. */
  below: readonly string[];
  load: () => Promise<Endpoint[]>;
  /** Writes problems with such paths that belong to no endpoint. */
  others?: () => Promise<WriteProblem>;
}

interface LoadedModule {
  endpoints: readonly Endpoint[];
  router: PatternRouter<Endpoint>;
}

/** Finds endpoints. Most isolates serve a few, so the others are not imported: the first module that has one ends the search. */
export class Routing {
  readonly #modules: readonly RouteModule[];
  readonly #loading = new Map<RouteModule, Promise<LoadedModule>>();
  readonly #loaded = new Map<RouteModule, LoadedModule>();

  constructor(modules: readonly RouteModule[]) {
    this.#modules = modules;
  }

  async match(method: string, path: string): Promise<Match | undefined> {
    for (const module of this.#modules) {
      if (!isAt(module, path)) continue;
      const { router } = this.#loaded.get(module) ?? (await this.#load(module));
      const [[found]] = router.match(method, path);
      // The parameters are values; routers of other kinds give indexes.
      if (found) return { endpoint: found[0], parameters: decoded(found[1]) };
    }
    return undefined;
  }

  /** The methods of a path. */
  async methods(path: string): Promise<string[]> {
    const modules = await Promise.all(this.#at(path).map((module) => this.#load(module)));
    return modules
      .flatMap(({ endpoints }) => endpoints)
      .filter((endpoint) => toPattern(endpoint.path).test(path))
      .map(({ method }) => method.toUpperCase());
  }

  /** The form of problems with a path that belongs to no endpoint; undefined for the usual one. */
  async writeOthers(path: string): Promise<WriteProblem | undefined> {
    const module = this.#at(path).find(({ others }) => others !== undefined);
    return module?.others?.();
  }

  /** All endpoints, in the order of their modules. */
  async all(): Promise<Endpoint[]> {
    const modules = await Promise.all(this.#modules.map((module) => this.#load(module)));
    return modules.flatMap(({ endpoints }) => endpoints);
  }

  #at(path: string): RouteModule[] {
    return this.#modules.filter((module) => isAt(module, path));
  }

  #load(module: RouteModule): Promise<LoadedModule> {
    const loading = this.#loading.get(module) ?? this.#import(module);
    this.#loading.set(module, loading);
    return loading;
  }

  async #import(module: RouteModule): Promise<LoadedModule> {
    const endpoints = await module.load();
    const router = new PatternRouter<Endpoint>();
    for (const endpoint of endpoints) {
      router.add(endpoint.method.toUpperCase(), endpoint.path, endpoint);
    }
    const loaded = { endpoints, router };
    this.#loaded.set(module, loaded);
    return loaded;
  }
}

function isAt({ below }: RouteModule, path: string): boolean {
  for (const one of below) {
    if (path.startsWith(one) && (path.length === one.length || path[one.length] === "/"))
      return true;
  }
  return false;
}

function decoded(parameters: object): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(parameters)) {
    texts[name] = tryDecodeURIComponent(String(value));
  }
  return texts;
}

function toPattern(path: string): RegExp {
  const pattern = path
    .replaceAll(".", "\\.")
    .replaceAll(/(?<=\/):\w+(?:\{(.*?)\})?/g, (_, input: string | undefined) => input ?? "[^/]+");
  return new RegExp(`^${pattern}$`);
}
