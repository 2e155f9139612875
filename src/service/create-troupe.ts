import { type DurableObject, env as globalEnv } from "cloudflare:workers";
import { isTenantId, type Principal } from "../api/auth/principal.ts";
import { TroupeClient } from "../client/teams/client.ts";
import type { TeamClient } from "../client/teams/team.ts";
import type { IncomingEmail } from "../api/inbound/email/receive-mail.ts";
import { compose, type Composition, type Env, log } from "./compose.ts";
import { type Scope, SCOPES } from "../contract/constants.ts";
import type { DocumentReader } from "../contract/files/documents.ts";
import { limitSettings } from "../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../contract/tenant/tenant.ts";
import { type Catalog, defaultCatalog } from "../core/tools/catalog.ts";
import { errorMessage, ValueError } from "../core/errors.ts";
import type { LogEntry } from "../core/log.ts";
import type { CamelKeys } from "../core/options/option-names.ts";
import { DeployedMemory, DeployedTeam, DeployedTenant } from "./deployed-objects.ts";
import { settingsRefusal } from "./parse-settings.ts";
import { problemResponse } from "../api/http/endpoint/problem.ts";

/** The sender of a request, as returned by {@link TroupeOptions.authenticate}. */
export interface Caller {
  /** 1 to 63 lower-case letters, digits and hyphens. */
  tenant: string;
  /**
   * The caller's scopes. Default: everything in the tenant; with `user`, to read, to start and to answer runs (`teams:read`,
   * `runs:read`, `runs:write`, `requests:write`).
   */
  scopes?: readonly Scope[];
  /** Shown by `GET /v1/whoami`. For A2A, callers of a tenant with the same name, or without a name, are one caller and share
   * conversations. */
  name?: string;
  /** The user for whom its runs are, whose memories they have and whose teams it reaches. Default: the name, with all teams. */
  user?: string;
  /** `all` reaches all teams of the tenant, `own` only those of its `user`. Default: `own` with `user`, otherwise `all`. */
  teams?: "own" | "all";
}

/** Limits of a tenant, with the API's names in camel case: `activeRuns`. */
export type TenantLimitOptions = CamelKeys<Partial<TenantLimits>>;

/** @typeParam Bindings of the Worker, as `wrangler types` describes them */
export interface TroupeOptions<Bindings = Env> {
  /**
   * Tools, functions, classes and teams in code. Default: the catalog that `registerTool` and the other register functions
   * fill.
   */
  catalog?: Catalog | undefined;
  /**
   * Identifies the sender of a request, for example by a session of the site. Return undefined to check the credentials of the
   * settings, created keys and team tokens instead.
   */
  authenticate?:
    | ((request: Request, env: Bindings) => Caller | undefined | Promise<Caller | undefined>)
    | undefined;
  /** Limits of each tenant without its own limits. They replace the settings `TENANT_*`. */
  limits?: TenantLimitOptions | undefined;
  /**
   * Extracts the text of PDFs for models that do not read PDF: `documents` of `troupe/documents`. Default: the sandbox, if
   * configured.
   */
  documents?: DocumentReader | undefined;
  /** The path under which the service is mounted, for example `/agents`. */
  basePath?: string | undefined;
}

/** A class of Durable Objects, for the Worker to export. */
export type ObjectClass = new (ctx: DurableObjectState, env: Env) => DurableObject<Env>;

/** A service: its handler, and the classes that the Worker must export. */
export interface Troupe<Bindings = Env> {
  /** Handles a request to the API. */
  fetch: (request: Request, env: Bindings) => Promise<Response>;
  /** Handles an e-mail to the address of a trigger, for the Worker to export beside `fetch`. */
  email: (message: IncomingEmail, env: Bindings) => Promise<void>;
  TeamObject: ObjectClass;
  TenantObject: ObjectClass;
  /** Memories outside of teams: collections of documents, and what is remembered of users and of the tenant. */
  MemoryObject: ObjectClass;
  /** The client for a tenant, without HTTP or credentials, for handlers of the same Worker. */
  client: (tenant: string) => TroupeClient;
  /** A team, for cron triggers, queue consumers and routes of the same Worker. */
  team: (tenant: string, id: string) => TeamClient;
}

/**
 * Creates a service of teams. Agents and tools get the bindings of the Worker as `env`.
 *
 * @typeParam Bindings of the Worker, as `wrangler types` describes them
 * @example
 * const troupe = createTroupe({ basePath: "/agents" });
 * export class TeamObject extends troupe.TeamObject {}
 * export class TenantObject extends troupe.TenantObject {}
 * export class MemoryObject extends troupe.MemoryObject {}
 * export default {
 *   fetch: (request, env) => troupe.fetch(request, env),
 *   email: (message, env) => troupe.email(message, env),
 * };
 *
 * @throws ValueError for a basePath that is not a path, and for unknown limits or limits that are not numbers
 */
export function createTroupe<Bindings extends object = Env>(
  options: TroupeOptions<Bindings> = {},
): Troupe<Bindings> {
  const { catalog = defaultCatalog, authenticate, documents, basePath = "" } = options;
  if (basePath !== "" && !/^(\/[\w.~-]+)+$/.test(basePath)) {
    throw new ValueError('basePath must be a path such as "/agents", without a slash at its end');
  }
  const limits = limitSettings(options.limits ?? {});
  const callers = new WeakMap<Request, Principal>();
  let composition: Composition | undefined;

  const settings = (env: Env): Env => ({ ...env, ...limits });
  // Created on first use, so that the Worker can add to the default catalog before.
  const composed = (env: Env): Composition =>
    (composition ??= compose(settings(env), {
      catalog,
      basePath,
      callers,
      documents: documents && (() => Promise.resolve(documents)),
      authenticate:
        authenticate &&
        (async (request) => {
          const caller = await authenticate(request, env as object as Bindings);
          return caller && principalOf(caller, await userIn(caller));
        }),
    }));

  class TeamObject extends DeployedTeam {
    static override deployment = { composed, settings };
  }
  class TenantObject extends DeployedTenant {
    static override deployment = { composed, settings };
  }
  class MemoryObject extends DeployedMemory {
    static override deployment = { composed, settings };
  }

  const client = (tenant: string): TroupeClient => {
    const { user: _, ...principal } = principalOf({ tenant }, undefined);
    const caller: Principal = { ...principal, id: "local", kind: "local" };
    return new TroupeClient({
      baseURL: "http://troupe",
      fetch: async (request) => {
        callers.set(request, caller);
        return composed(globalEnv as unknown as Env).fetch(request);
      },
    });
  };

  return {
    async fetch(request, bindings) {
      const env = bindings as object as Env;
      let service: Composition;
      try {
        service = composed(env);
      } catch (error) {
        const entry: LogEntry = { event: "settings_refused", error: errorMessage(error) };
        log(JSON.stringify(entry));
        return problemResponse({
          status: 503,
          code: "not_configured",
          // On the developer's own machine, only the developer reads it.
          detail:
            env.TROUPE_FRONT_KEY === undefined
              ? "A setting of this server is invalid. Its log names the setting."
              : settingsRefusal(error),
        });
      }
      const page = basePath === "" ? await consoleResponse(request, env) : undefined;
      return page ?? withBasePath(basePath, request, (inner) => service.fetch(inner));
    },
    email: (message, bindings) => composed(bindings as object as Env).email(message),
    TeamObject,
    TenantObject,
    MemoryObject,
    client,
    team: (tenant, id) => client(tenant).team(id),
  };
}

/** The default scopes of a user: everything in a conversation, and no change of its component. */
const USER_SCOPES: readonly Scope[] = ["teams:read", "runs:read", "runs:write", "requests:write"];

/**
 * @param input the user that the caller names
 * @throws TypeError for an invalid tenant, which is a mistake of the program, not of the request
 */
function principalOf(caller: Caller, input: string | undefined): Principal {
  const { tenant, name = null } = caller;
  if (!isTenantId(tenant)) {
    throw new TypeError(
      `${JSON.stringify(tenant)} is not a valid tenant id: use 1 to 63 lower-case letters, digits and hyphens`,
    );
  }
  const user = input ?? (name || null);
  const { teams = input === undefined ? "all" : "own" } = caller;
  if (teams === "own" && user === null) {
    throw new TypeError(
      'teams: "own" needs the user whose teams they are: authenticate must return user, too',
    );
  }
  const { scopes = input === undefined ? SCOPES : USER_SCOPES } = caller;
  const principal = { tenant, scopes, kind: "identity", name, user, expires_at: null } as const;
  if (teams === "all" || user === null) return { ...principal, id: `caller:${name ?? ""}` };
  return { ...principal, id: `user:${user}`, own_teams_of: user };
}

/**
 * The user of a caller; undefined where it names none. A user without a value would be a caller with all rights in the tenant, and an
 * empty one would use what belongs to the tenant.
 *
 * @throws TypeError
 */
async function userIn(caller: Caller): Promise<string | undefined> {
  if (!Object.hasOwn(caller, "user")) return undefined;
  const { user } = caller;
  const { userSchema } = await import("../contract/user.ts");
  const { data, error } = userSchema.safeParse(user);
  if (data !== undefined) return data;
  const why = typeof user === "string" ? error?.issues[0]?.message : "must be a text";
  throw new TypeError(
    `authenticate returned the user ${JSON.stringify(user)}, which ${why}. Return undefined for a request without a session, or leave "user" out for a caller with all rights`,
  );
}

/** Serves the API below a path, also behind a router that has already removed the path. */
async function withBasePath(
  basePath: string,
  request: Request,
  serve: (request: Request) => Response | Promise<Response>,
): Promise<Response> {
  if (basePath === "") return serve(request);
  const url = new URL(request.url);
  const below = url.pathname.startsWith(`${basePath}/`);
  if (below) url.pathname = url.pathname.slice(basePath.length);
  const response = await serve(below ? new Request(url, request) : request);
  const location = response.headers.get("location");
  if (location === null) return response;
  const moved = new Response(response.body, response);
  moved.headers.set("location", basePath + location);
  return moved;
}

/** The paths that are never a page: the API and its protocols. */
const API = /^\/(v1|a2a|mcp|ag-ui|ai-sdk|openai|in|healthz|\.well-known)(\/|$)/;
/** The files of the console; what is below `assets` has its hash in its name. */
const FILE = /^\/(assets\/[\w.-]+|favicon\.svg)$/;

/**
 * A file of the console, or for the navigation of a browser its page, which reads the address itself. Undefined for what the
 * API answers.
 */
async function consoleResponse(
  request: Request,
  { CONSOLE_FILES, CONSOLE }: Env,
): Promise<Response | undefined> {
  if (CONSOLE_FILES === undefined || CONSOLE === "off") return undefined;
  if (request.method !== "GET" && request.method !== "HEAD") return undefined;
  const url = new URL(request.url);
  if (API.test(url.pathname)) return undefined;
  if (FILE.test(url.pathname)) {
    const file = await CONSOLE_FILES.fetch(request.url, request);
    return file.status === 404 ? undefined : file;
  }
  if (!isNavigation(request.headers)) return undefined;
  return CONSOLE_FILES.fetch(new URL("/", url).href, request);
}

function isNavigation(headers: Headers): boolean {
  const mode = headers.get("sec-fetch-mode");
  // Browsers say so on HTTPS and on this machine; elsewhere it is what they accept.
  if (mode !== null) return mode === "navigate";
  return headers.get("accept")?.includes("text/html") === true;
}
