import {
  type CollectionGateway,
  type MemoryOfTeam,
  REPEATABLE_CALLS_OF_RUNS,
} from "../../contract/gateways/memory-gateway.ts";
import { ValueError } from "../../core/errors.ts";
import type { CollectionReader } from "../../core/memory/memory-host.ts";
import { memoriesNamed, remoteObject } from "../../sqlite/remote-methods.ts";
import type { OtherMemories } from "../engine/journal/turn-memory.ts";
import type { MemoryTarget } from "../storage/outbox/memory-outbox.ts";
import type { MemoryDelivery } from "./memory-delivery.ts";

/** The objects of a tenant that hold memories and documents. */
export interface MemoryObjects {
  of(target: MemoryTarget): MemoryOfTeam;
  collection(name: string): Pick<CollectionGateway, "searchCollection">;
}

/** Finds the objects of a tenant by their names. */
export function memoryObjects(namespace: DurableObjectNamespace, tenant: string): MemoryObjects {
  return {
    of: (target) =>
      remoteObject<MemoryOfTeam>(
        namespace,
        memoriesNamed(tenant, target.scope === "user" ? `user/${target.user}` : "tenant"),
        REPEATABLE_CALLS_OF_RUNS,
      ),
    collection: (name) =>
      remoteObject<Pick<CollectionGateway, "searchCollection">>(
        namespace,
        memoriesNamed(tenant, `collection/${name}`),
        ["searchCollection"],
      ),
  };
}

/** The memories of a team's tenant and its users, and the tenant's documents. */
export class TenantMemories implements OtherMemories {
  readonly #objects: MemoryObjects;
  readonly #delivery: MemoryDelivery;

  constructor(objects: MemoryObjects, delivery: MemoryDelivery) {
    this.#objects = objects;
    this.#delivery = delivery;
  }

  async reach(target: MemoryTarget): Promise<MemoryOfTeam> {
    await this.#delivery.deliverTo(target);
    return this.#objects.of(target);
  }

  written(): void {
    void this.#delivery.deliver();
  }

  collection(name: string): CollectionReader {
    return {
      search: async (query) => {
        const found = await this.#objects
          .collection(name)
          .searchCollection({ ...query, in_run: true });
        if (!found.ok) throw new ValueError(found.problem.detail);
        return found.value;
      },
    };
  }
}
