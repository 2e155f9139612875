import type { Result } from "../../contract/result.ts";
import { NEWER_DATA } from "../../contract/stored-data.ts";
import { destroy, type DestroyStub } from "../object/durable-object-gateway.ts";
import { REGISTRY } from "./registry.ts";
import type { TenantParts } from "./tenant-parts.ts";

/** Bindings to the objects that a tenant's object calls. */
export interface OtherObjectsEnv {
  TEAM?: DurableObjectNamespace;
  TENANT?: DurableObjectNamespace;
}

/** The registry as a tenant calls it. */
interface RegistryStub {
  register(id: string, label: string | null): Promise<void>;
  unregister(id: string): Promise<void>;
}

/** A team object as its tenant calls it. */
interface TeamStub extends DestroyStub {
  team(): Promise<Result<unknown>>;
}

/** Teams deleted with their tenant, per alarm. */
const DELETED_AT_ONCE = 20;
/** Ids read at once of teams that are loaded. */
const LOADED_AT_ONCE = 200;

/** The calls of a tenant's object to its teams and to the registry. Each may be repeated after a failure. */
export class OtherObjects {
  readonly #env: OtherObjectsEnv;

  constructor(env: OtherObjectsEnv) {
    this.#env = env;
  }

  /** Tells the registry of the tenant, until it has been told. */
  async register({ tenant }: TenantParts): Promise<void> {
    const { id, label, registered } = tenant.record;
    if (registered) return;
    await this.#registry().register(id, label);
    if (tenant.record.label === label) tenant.save({ registered: true });
  }

  unregister(tenant: string): Promise<void> {
    return this.#registry().unregister(tenant);
  }

  /** Drops the expired reservations of teams that do not exist; the entries of the others are on their way. */
  async dropExpired({ tenant, reservations }: TenantParts): Promise<void> {
    const now = Date.now();
    for (const id of reservations.expired(now)) {
      const found = await this.#team(tenant.record.id, id).team();
      if (found.ok) reservations.extend(id, now);
      else reservations.drop(id);
    }
  }

  /** Loads all teams, one after the other; one that cannot be loaded stays as it is. */
  async wakeTeams({ tenant, directory }: TenantParts): Promise<void> {
    let ids = directory.some(LOADED_AT_ONCE);
    for (let last = ids.at(-1); last !== undefined; last = ids.at(-1)) {
      for (const id of ids) {
        await this.#team(tenant.record.id, id)
          .team()
          .catch(() => undefined);
      }
      ids = directory.some(LOADED_AT_ONCE, last);
    }
  }

  /**
   * Deletes some of the tenant's teams.
   *
   * @returns whether there were any, and those whose object holds no team: nothing will tell of them any more
   */
  async deleteTeams(parts: TenantParts): Promise<{ deleted: boolean; absent: string[] }> {
    const teams = parts.directory.some(DELETED_AT_ONCE);
    return { deleted: teams.length > 0, absent: await this.#destroy(parts, teams) };
  }

  /** Deletes some of the conversations with teams that were deleted. @returns those whose object holds no team */
  deleteOrphans(parts: TenantParts): Promise<string[]> {
    return this.#destroy(parts, parts.directory.conversations.orphans(DELETED_AT_ONCE));
  }

  /** @returns those that are not there */
  async #destroy({ tenant }: TenantParts, teams: readonly string[]): Promise<string[]> {
    const absent: string[] = [];
    await Promise.all(
      teams.map(async (team) => {
        const destroyed = await destroy(() => this.#team(tenant.record.id, team));
        if (!destroyed.ok && destroyed.problem.code === NEWER_DATA) {
          throw new Error(destroyed.problem.detail);
        }
        if (!destroyed.ok || !destroyed.value.told) absent.push(team);
      }),
    );
    return absent;
  }

  #team(tenant: string, id: string): TeamStub {
    const { TEAM } = this.#env;
    if (TEAM === undefined) throw new TypeError("the binding TEAM is missing");
    return TEAM.get(TEAM.idFromName(`${tenant}/${id}`)) as unknown as TeamStub;
  }

  #registry(): RegistryStub {
    const { TENANT } = this.#env;
    if (TENANT === undefined) throw new TypeError("the binding TENANT is missing");
    return TENANT.get(TENANT.idFromName(REGISTRY)) as unknown as RegistryStub;
  }
}
