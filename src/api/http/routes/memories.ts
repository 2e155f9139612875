import type { MemoryCalls, NewMemory } from "../../../contract/gateways/memory-gateway.ts";
import type { Idempotency } from "../../../contract/common.ts";
import { memoryCommands } from "../../../contract/commands/memories.ts";
import type { Memory, MemoryScopeName } from "../../../contract/memory.ts";
import { LONGEST_USER } from "../../../contract/constants.ts";
import { fromBase64Url, toBase64Url } from "../../../core/base64.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { MemoryContent } from "../../../core/memory/memory-content.ts";
import type { MemoryEntry } from "../../../core/memory/memory-host.ts";
import type { Principal } from "../../auth/principal.ts";
import { callerOf, requireAllTeams, requireTeam, userOf } from "../access/access-control.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { checkMetadata } from "../input/body.ts";
import { type CheckedRequest, type Endpoint, json } from "../endpoint/endpoint.ts";
import { invalid, ProblemError, unwrap } from "../endpoint/problem.ts";
import { memoriesOf, type Services, tenantOf } from "../endpoint/services.ts";

/** The owner of memories: a team, a user or the tenant. */
type MemoryOwner =
  | { scope: "team"; team: string }
  | { scope: "user"; user: string }
  | { scope: "tenant" };

/** A place as a request names it. */
interface RequestedOwner {
  scope?: MemoryScopeName | undefined;
  team?: string | undefined;
  user?: string | undefined;
}

/** Begins the names of users among those of the tenant's memories. */
const USER_PREFIX = "user/";

export function memoryEndpoints(services: Services): Endpoint[] {
  const callsOf = (principal: Principal, memoryOwner: MemoryOwner): MemoryCalls => {
    const { tenant } = principal;
    if (memoryOwner.scope === "team")
      return services.gateway.team(tenant, memoryOwner.team, callerOf(principal));
    const memories = memoriesOf(services);
    return memoryOwner.scope === "user"
      ? memories.user(tenant, memoryOwner.user)
      : memories.tenant(tenant);
  };

  const endpoints = commandEndpoints(memoryCommands, services, {
    async listMemories({ principal, query: { q, limit, cursor, ...given } }) {
      const owner = placeOf(principal, given);
      const calls = callsOf(principal, owner);
      if (q === undefined) {
        const page = unwrap(
          await calls.memories({ limit, ...(cursor !== undefined && { cursor }) }),
        );
        const memories = page.memories.map((entry) => publicMemory(owner, entry));
        return json({ memories, next_cursor: page.next_cursor });
      }
      if (cursor !== undefined)
        throw invalidPlace("cursor", "belongs to a list: q gives the best only");
      const asked = { text: q, k: limit, collection: null };
      const { hits, mode, note } = unwrap(await calls.searchMemories(asked));
      const memories = hits.map(({ entry, similarity, words, score }) => ({
        ...publicMemory(owner, entry),
        score: similarity ?? words ?? score,
      }));
      return json({ memories, next_cursor: null, mode, ...(note !== undefined && { note }) });
    },

    async listMemoryUsers({ principal, query: { limit, cursor } }) {
      placeOf(principal, { scope: "tenant" });
      memoriesOf(services);
      // A token that stands for a user, or for none, must not learn the names of others.
      if (principal.user !== undefined) {
        return json({ users: principal.user === null ? [] : [principal.user], next_cursor: null });
      }
      const { names, next_cursor } = unwrap(
        await tenantOf(services, principal.tenant).memoryNames({
          prefix: USER_PREFIX,
          limit,
          ...(cursor !== undefined && { cursor }),
        }),
      );
      return json({ users: names.map((name) => name.slice(USER_PREFIX.length)), next_cursor });
    },

    async createMemories({ principal, body, idempotency }) {
      const { memories = [], content, metadata = null, ...given } = body;
      const all = content === undefined ? memories : [{ content, metadata, ...given }];
      const places = all.map((one, index) => {
        const at = memories.length > 0 ? index : undefined;
        checkMetadata(one.metadata, services.limits, fieldOf("metadata", at));
        return placeOf(principal, { ...given, ...definedOf(one) }, at);
      });
      const [place] = places;
      if (place === undefined) throw new TypeError("the body was checked");
      const other = places.findIndex((one) => idOf(one, "") !== idOf(place, ""));
      if (other !== -1) {
        throw invalidPlace(
          `memories[${other}]`,
          "must have the scope, team and user of the others: a request stores all or none",
        );
      }
      const contents = await Promise.all(
        all.map(async (one, index) => ({
          ...newMemory(one),
          ...(idempotency && { request: await requestOf(idempotency, index) }),
        })),
      );
      const added = unwrap(await callsOf(principal, place).addMemories(contents)).map((entry) =>
        publicMemory(place, entry),
      );
      return json(memories.length > 0 ? { memories: added } : added[0], 201);
    },

    async changeMemory(call) {
      const { place, entry } = namedBy(call);
      const { content, metadata } = call.body;
      checkMetadata(metadata, services.limits);
      const changed = await callsOf(call.principal, place).changeMemory(entry, {
        ...(content !== undefined && { content }),
        ...(metadata !== undefined && { metadata }),
      });
      return json(publicMemory(place, unwrap(changed)));
    },

    async forgetMemory(call) {
      const { place, entry } = namedBy(call);
      unwrap(await callsOf(call.principal, place).forgetMemory(entry));
      return new Response(null, { status: 204 });
    },

    async forgetMemories({ principal, query: { run, team, user, scope } }) {
      if (run === undefined) {
        if (team !== undefined) throw invalidPlace("team", 'belongs to "run"');
        if (user === undefined && scope === undefined) {
          throw invalidPlace("run", 'is missing: give "run", "user" or "scope"');
        }
        const owner = placeOf(principal, { scope: scope ?? "user", user });
        const { forgotten } = unwrap(await callsOf(principal, owner).eraseMemories());
        return forgotten === null ? new Response(null, { status: 204 }) : json({ forgotten });
      }
      if (scope !== undefined) throw invalidPlace("scope", 'does not go with "run"');
      const places = await placesOfRun(principal, { run, team, user }, services);
      const taken = await Promise.all(
        places.map((position) => callsOf(principal, position).forgetRun(run)),
      );
      const forgotten = taken.map((one) => unwrap(one).forgotten).reduce((sum, n) => sum + n, 0);
      return json({ forgotten });
    },
  });
  // Team tokens see the memories of their team and of their user.
  return endpoints.map((one) => ({ ...one, namesTeam: true as const }));
}

/** The path of a field. @param index the number of its entry in the list */
function fieldOf(name: string, index: number | undefined): string {
  return index === undefined ? name : `memories[${index}].${name}`;
}

/** @param index the number of the entry in the list that names it @throws ProblemError 403 or 422 */
function placeOf(principal: Principal, given: RequestedOwner, index?: number): MemoryOwner {
  const at = (name: string): string => fieldOf(name, index);
  const { team, user } = given;
  const scope =
    given.scope ?? (team !== undefined ? "team" : user !== undefined ? "user" : undefined);
  if (scope === undefined)
    throw invalidPlace(at("scope"), 'is missing: "team", "user" or "tenant"');
  if (scope !== "team" && team !== undefined)
    throw invalidPlace(at("team"), "belongs to the scope team");
  if (scope !== "user" && user !== undefined) {
    throw invalidPlace(at("user"), "belongs to the scope user");
  }
  if (scope === "tenant") {
    if (principal.team !== undefined) requireTeam("", principal);
    requireAllTeams(principal);
    return { scope };
  }
  if (scope === "team") {
    const id = team ?? principal.team?.id;
    if (id === undefined) throw invalidPlace(at("team"), "is missing: the scope team needs it");
    requireTeam(id, principal);
    return { scope, team: id };
  }
  const own = userOf(principal, user);
  if (own !== undefined) return { scope, user: own };
  throw invalidPlace(at("user"), "is missing: this credential stands for no user");
}

/** The places in which a run may have learned something. @throws ProblemError 404 for an unknown run */
async function placesOfRun(
  principal: Principal,
  {
    run,
    team: named,
    user: given,
  }: { run: string; team?: string | undefined; user?: string | undefined },
  services: Services,
): Promise<MemoryOwner[]> {
  const { tenant } = principal;
  const team =
    named ?? principal.team?.id ?? (await tenantOf(services, tenant).teamOfRun(run)) ?? undefined;
  if (team !== undefined) requireTeam(team, principal);
  const found =
    team === undefined
      ? undefined
      : await services.gateway.team(tenant, team, callerOf(principal)).run(run);
  const known = found?.ok ? found.value : undefined;
  const user = known?.user ?? userOf(principal, given);
  // A caller that may not name the user of the run may not remove what the run has learned of that user.
  if (user !== undefined) userOf(principal, user);
  if (known === undefined && user === undefined) throw runNotFound(run);
  const outside = services.memories !== undefined;
  return [
    ...(known !== undefined && team !== undefined ? [{ scope: "team" as const, team }] : []),
    ...(outside && user !== undefined ? [{ scope: "user" as const, user }] : []),
    ...(outside && reachesTenant(principal) ? [{ scope: "tenant" as const }] : []),
  ];
}

/** True if a principal reaches the memories of the tenant, which agents of all users recall. */
function reachesTenant({ team, own_teams_of }: Principal): boolean {
  return team === undefined && own_teams_of === undefined;
}

/** The id of an entry with its place: `team.TEAM.ID`, `user.USER.ID` or `tenant.ID`. */
function idOf(owner: MemoryOwner, entry: string): string {
  if (owner.scope === "tenant") return `tenant.${entry}`;
  if (owner.scope === "team") return `team.${owner.team}.${entry}`;
  return `user.${toBase64Url(new TextEncoder().encode(owner.user))}.${entry}`;
}

/** The place and the entry that an id names. @throws ProblemError 404, also for those of others */
function namedBy({ principal, param }: Pick<CheckedRequest, "principal" | "param">): {
  place: MemoryOwner;
  entry: string;
} {
  const id = param("memory");
  const [, scope = "", owner = "", entry = ""] =
    /^(?:(team|user)\.([\w-]+)|tenant)\.(.{1,200})$/.exec(id) ?? [];
  const place = givenBy(id, scope, owner);
  if (place === undefined || entry === "") throw memoryNotFound();
  try {
    return { place: placeOf(principal, place), entry };
  } catch (error) {
    if (error instanceof ProblemError) throw memoryNotFound();
    throw error;
  }
}

function givenBy(id: string, scope: string, owner: string): RequestedOwner | undefined {
  if (scope === "team") return { scope, team: owner };
  if (scope === "" && id.startsWith("tenant.")) return { scope: "tenant" };
  try {
    const user = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      fromBase64Url(owner),
    );
    return scope === "user" && user.length <= LONGEST_USER ? { scope, user } : undefined;
  } catch {
    return undefined;
  }
}

function publicMemory(
  owner: MemoryOwner,
  { id, content, metadata, source, created_at }: MemoryEntry,
): Memory {
  return {
    id: idOf(owner, id),
    content,
    metadata,
    scope: owner.scope,
    source,
    created_at,
  };
}

function newMemory({
  content,
  metadata,
}: {
  content: unknown;
  metadata: MemoryContent["metadata"];
}): NewMemory {
  const mime_type = typeof content === "string" ? "text/plain" : "application/json";
  return { content: { content: content as MemoryContent["content"], mime_type, metadata } };
}

/** The same ids for each attempt of a request. */
async function requestOf(
  { key, hash }: Idempotency,
  index: number,
): Promise<NonNullable<NewMemory["request"]>> {
  const digest = await sha256Hex(JSON.stringify([key, index]));
  return { id: digest.slice(0, 32), hash };
}

function definedOf({ scope, team, user }: RequestedOwner): RequestedOwner {
  return {
    ...(scope !== undefined && { scope }),
    ...(team !== undefined && { team }),
    ...(user !== undefined && { user }),
  };
}

function invalidPlace(path: string, message: string): ProblemError {
  return invalid("invalid_request", "The request is invalid.", [{ path, message }]);
}

function memoryNotFound(): ProblemError {
  return new ProblemError({
    status: 404,
    code: "memory_not_found",
    detail: "There is no such memory.",
  });
}

function runNotFound(run: string): ProblemError {
  return new ProblemError({
    status: 404,
    code: "run_not_found",
    detail: `There is no run ${run}. If its team was deleted, name the user whose run it was.`,
  });
}
