import { MEMORIES_UNDELIVERED, type Result } from "../../contract/result.ts";
import { isUnreadable, NEWER_DATA } from "../../contract/stored-data.ts";
import type { OpenCost } from "../../contract/tenant/cost-claim.ts";
import type { JsonObject } from "../../core/json.ts";
import type { LoginWait } from "../connections/connection-store.ts";
import { type Erasure, eraseObject } from "../../sqlite/erase.ts";
import {
  memoriesNamed,
  remoteObject,
  teamNamed,
  tenantNamed,
} from "../../sqlite/remote-methods.ts";
import type { DestroyStub } from "../../team/object/handlers/team-methods.ts";
import { destroy } from "../../team/object/durable-object-gateway.ts";
import { REGISTRY, type RegistryMethods } from "./registry.ts";
import type { TenantParts } from "./tenant-parts.ts";

/** Bindings to the objects that a tenant's object calls. */
export interface TenantCallsEnv {
  TEAM?: DurableObjectNamespace;
  TENANT?: DurableObjectNamespace;
  MEMORY?: DurableObjectNamespace;
}

/** A team object as its tenant calls it. */
interface TeamStub extends DestroyStub {
  team(): Promise<Result<unknown>>;
  openCost(): Promise<Result<OpenCost | null>>;
  answer(run: string, request: string, answer: JsonObject): Promise<Result<unknown>>;
}

/** An object of memories as its tenant calls it. */
type MemoryStub = Erasure<null>;

/** Refusals of teams that still exist. */
const KEPT: ReadonlySet<string> = new Set([NEWER_DATA, MEMORIES_UNDELIVERED]);

/** Teams deleted per alarm while their tenant is deleted. */
const DELETED_AT_ONCE = 20;
/** Ids of teams read per batch while teams are loaded. */
const LOADED_AT_ONCE = 200;

/** Calls that a tenant's object makes to its teams and to the registry. Each may be repeated after a failure. */
export class TenantCalls {
  readonly #env: TenantCallsEnv;

  constructor(env: TenantCallsEnv) {
    this.#env = env;
  }

  /** Reports the tenant to the registry until the registry has confirmed it. */
  async register({ tenant }: TenantParts): Promise<void> {
    const { id, label, registered } = tenant.record;
    if (registered) return;
    await this.#registry().register(id, label);
    if (tenant.record.label === label) tenant.save({ registered: true });
  }

  unregister(tenant: string): Promise<void> {
    return this.#registry().unregister(tenant);
  }

  /** Drops expired reservations of teams that do not exist. Teams that exist have entries still to deliver. */
  async dropExpired({ tenant, reservations }: TenantParts): Promise<void> {
    const now = Date.now();
    for (const id of reservations.expired(now)) {
      const found = await this.#team(tenant.record.id, id).team();
      if (found.ok) reservations.extend(id, now);
      else reservations.drop(id);
    }
  }

  /** Loads all teams one after the other, and skips teams that cannot be loaded. */
  async loadTeams({ tenant, directory }: TenantParts): Promise<void> {
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
   * @returns whether there were any, and the ids whose object holds no team: nothing else will report their deletion
   */
  async deleteTeams(parts: TenantParts): Promise<{ deleted: boolean; absent: string[] }> {
    const teams = parts.directory.some(DELETED_AT_ONCE);
    return { deleted: teams.length > 0, absent: await this.#destroy(parts, teams) };
  }

  /** Erases some of the tenant's objects of memories. @returns whether there were any */
  async eraseMemories({ tenant, memories }: TenantParts): Promise<boolean> {
    const names = memories.some(DELETED_AT_ONCE);
    const { MEMORY } = this.#env;
    await Promise.all(
      names.map(async (name) => {
        if (MEMORY === undefined) throw new TypeError("the binding MEMORY is missing");
        const address = memoriesNamed(tenant.record.id, name);
        const stub = remoteObject<MemoryStub>(MEMORY, address, ["erase", "wipe"]);
        const erased = await eraseObject(address.object, {
          erase: () => stub.erase(),
          wipe: () => stub.wipe(),
        });
        if (erased !== "wiped" && !erased.ok && !isUnreadable(erased, address.object)) {
          throw new Error(erased.problem.detail);
        }
        memories.remove(name);
      }),
    );
    return names.length > 0;
  }

  /** Deletes some conversations with deleted teams. @returns the ids whose object holds no team */
  deleteOrphans(parts: TenantParts): Promise<string[]> {
    return this.#destroy(parts, parts.directory.conversations.orphans(DELETED_AT_ONCE));
  }

  /** Answers a question of a run that a login has answered. */
  answerLogin(tenant: string, { team, run, request }: LoginWait): Promise<Result<unknown>> {
    return this.#team(tenant, team).answer(run, request, { content: "Logged in." });
  }

  /** The cost of a team's active run; null if none is active. */
  async openCost(tenant: string, team: string): Promise<Result<OpenCost | null>> {
    return this.#team(tenant, team).openCost();
  }

  /** @returns the ids whose object holds no team */
  async #destroy({ tenant }: TenantParts, teams: readonly string[]): Promise<string[]> {
    const absent: string[] = [];
    await Promise.all(
      teams.map(async (team) => {
        const destroyed = await destroy(this.#team(tenant.record.id, team));
        if (!destroyed.ok && KEPT.has(destroyed.problem.code)) {
          throw new Error(destroyed.problem.detail);
        }
        if (!destroyed.ok || !destroyed.value.reported) absent.push(team);
      }),
    );
    return absent;
  }

  #team(tenant: string, id: string): TeamStub {
    const { TEAM } = this.#env;
    if (TEAM === undefined) throw new TypeError("the binding TEAM is missing");
    return remoteObject<TeamStub>(TEAM, teamNamed(tenant, id), ["team"]);
  }

  #registry(): RegistryMethods {
    const { TENANT } = this.#env;
    if (TENANT === undefined) throw new TypeError("the binding TENANT is missing");
    return remoteObject<RegistryMethods>(TENANT, tenantNamed(REGISTRY), ["register", "unregister"]);
  }
}
