import { type DurableObject, env as globalEnv } from "cloudflare:workers";
import { isTenantId, type Principal } from "./auth/principal.ts";
import { TroupeClient } from "./client/client.ts";
import type { TeamClient } from "./client/team.ts";
import { compose, type Composition, type Env, log } from "./compose.ts";
import { type Scope, SCOPES } from "./contract/constants.ts";
import { limitSettings } from "./contract/tenant-limits.ts";
import type { TenantLimits } from "./contract/tenant.ts";
import { type Catalog, defaultCatalog } from "./core/component/catalog.ts";
import { errorMessage, ValueError } from "./core/errors.ts";
import type { LogEntry } from "./core/log.ts";
import type { CamelKeys } from "./core/option-names.ts";
import { DeployedTeam, DeployedTenant } from "./deployed-objects.ts";
import { settingsRefusal } from "./parse-settings.ts";
import { consoleResponse } from "./http/console-files.ts";
import { problemResponse } from "./http/problem.ts";

/** Who sends a request, as a program's own {@link TroupeOptions.authenticate} says. */
export interface Caller {
  /** 1 to 63 lower-case letters, digits and hyphens. */
  tenant: string;
  /** What the caller may do. Default: everything in the tenant. */
  scopes?: readonly Scope[];
  /** Shown by `GET /v1/whoami`. Callers of a tenant with the same name, or without one, are one to A2A: they share conversations. */
  name?: string;
}

/** Limits of a tenant, by the names of the API in camel case: `activeRuns`. */
export type TenantLimitOptions = CamelKeys<Partial<TenantLimits>>;

export interface TroupeOptions {
  /** Tools, functions, classes and teams in code. Default: what `registerTool` and its like have registered. */
  catalog?: Catalog;
  /**
   * Says who sends a request: a session of the site, for example. Undefined leaves it to the credentials of the settings,
   * to created keys and to team tokens.
   */
  authenticate?: (request: Request, env: Env) => Caller | undefined | Promise<Caller | undefined>;
  /** Limits of each tenant without an override, instead of the settings `TENANT_*`. */
  limits?: TenantLimitOptions;
  /** The path under which the service is mounted, for example `/agents`. */
  basePath?: string;
}

/** A class of Durable Objects, for the Worker to export. */
export type ObjectClass = new (ctx: DurableObjectState, env: Env) => DurableObject<Env>;

/** A service: its handler and the classes that the Worker has to export. */
export interface Troupe {
  /** Answers a request to the API. */
  fetch: (request: Request, env: Env) => Promise<Response>;
  TeamObject: ObjectClass;
  TenantObject: ObjectClass;
  /** All calls of the client as a tenant, without HTTP or credentials: for handlers of the same Worker. */
  client: (tenant: string) => TroupeClient;
  /** A team, for cron triggers, queue consumers and routes of the same Worker. */
  team: (tenant: string, id: string) => TeamClient;
}

/**
 * Makes a service of teams.
 *
 * @example
 * const troupe = createTroupe({ basePath: "/agents" });
 * export class TeamObject extends troupe.TeamObject {}
 * export class TenantObject extends troupe.TenantObject {}
 * export default { fetch: (request, env) => troupe.fetch(request, env) };
 *
 * @throws ValueError for a basePath that is not a path, and for limits that do not exist or are no numbers
 */
export function createTroupe(options: TroupeOptions = {}): Troupe {
  const { catalog = defaultCatalog, authenticate, basePath = "" } = options;
  if (basePath !== "" && !/^(\/[\w.~-]+)+$/.test(basePath)) {
    throw new ValueError('basePath must be a path such as "/agents", without a slash at its end');
  }
  const limits = limitSettings(options.limits ?? {});
  const callers = new WeakMap<Request, Principal>();
  let composition: Composition | undefined;

  const settings = (env: Env): Env => ({ ...env, ...limits });
  // Made on first use, so that the Worker can first add to the default catalog.
  const composed = (env: Env): Composition =>
    (composition ??= compose(settings(env), {
      catalog,
      inside: (request) => callers.get(request),
      authenticate:
        authenticate &&
        (async (request) => {
          const caller = await authenticate(request, env);
          return caller && principalOf(caller);
        }),
    }));

  class TeamObject extends DeployedTeam {
    static override deployment = { composed, settings };
  }
  class TenantObject extends DeployedTenant {
    static override deployment = { composed, settings };
  }

  const client = (tenant: string): TroupeClient => {
    const caller: Principal = { ...principalOf({ tenant }), id: "local", kind: "local" };
    return new TroupeClient({
      baseURL: "http://troupe",
      fetch: async (request) => {
        callers.set(request, caller);
        return composed(globalEnv as unknown as Env).fetch(request);
      },
    });
  };

  return {
    async fetch(request, env) {
      let service: Composition;
      try {
        service = composed(env);
      } catch (error) {
        const entry: LogEntry = { event: "settings_refused", error: errorMessage(error) };
        log(JSON.stringify(entry));
        return problemResponse({
          status: 503,
          code: "not_configured",
          // Of a server on the developer's own machine, only they read it.
          detail:
            env.TROUPE_FRONT_KEY === undefined
              ? "A setting of this server is wrong; its log says which."
              : settingsRefusal(error),
        });
      }
      const page = basePath === "" ? await consoleResponse(request, env) : undefined;
      return page ?? withBasePath(basePath, request, (inner) => service.fetch(inner));
    },
    TeamObject,
    TenantObject,
    client,
    team: (tenant, id) => client(tenant).team(id),
  };
}

/** @throws TypeError for a tenant's id that is none: a mistake of the program, not of the request */
function principalOf(caller: Caller): Principal {
  const { tenant, scopes = SCOPES, name = null } = caller;
  if (!isTenantId(tenant)) {
    const given = JSON.stringify(tenant);
    throw new TypeError(
      `${given} is no tenant: use 1 to 63 lower-case letters, digits and hyphens`,
    );
  }
  return { id: `caller:${name ?? ""}`, tenant, scopes, kind: "identity", name, expires_at: null };
}

/** Serves the API below a path: also behind a router that has removed the path already. */
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
