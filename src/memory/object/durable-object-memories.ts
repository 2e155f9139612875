import {
  type CollectionGateway,
  type Memories,
  type MemoryGateway,
  REPEATABLE_COLLECTION_CALLS,
  REPEATABLE_MEMORY_CALLS,
} from "../../contract/gateways/memory-gateway.ts";
import { ok, type Result } from "../../contract/result.ts";
import { type Erasure, eraseObject } from "../../sqlite/erase.ts";
import { memoriesNamed, remoteMethods, remoteObject } from "../../sqlite/remote-methods.ts";

type Wipe = Pick<Erasure<unknown>, "wipe">;

/** Finds objects of memories in a Durable Object namespace. */
export class DurableObjectMemories implements Memories {
  readonly #namespace: DurableObjectNamespace;

  constructor(namespace: DurableObjectNamespace) {
    this.#namespace = namespace;
  }

  user(tenant: string, user: string): MemoryGateway {
    return this.#memories(tenant, `user/${user}`);
  }

  tenant(tenant: string): MemoryGateway {
    return this.#memories(tenant, "tenant");
  }

  collection(tenant: string, id: string): CollectionGateway {
    const address = memoriesNamed(tenant, `collection/${id}`);
    const calls = REPEATABLE_COLLECTION_CALLS;
    const stub = remoteObject<CollectionGateway & Wipe>(this.#namespace, address, calls);
    return remoteMethods<CollectionGateway, Pick<CollectionGateway, "deleteCollection">>(
      () => stub,
      {
        async deleteCollection() {
          const deleted = await eraseObject(address.object, {
            erase: () => stub.deleteCollection(),
            wipe: () => stub.wipe(),
          });
          if (deleted !== "wiped") return deleted;
          // Nothing is stored any more: this takes it from the tenant's list.
          await stub.deleteCollection();
          return ok(null);
        },
      },
    );
  }

  #memories(tenant: string, name: string): MemoryGateway {
    const address = memoriesNamed(tenant, name);
    const calls = REPEATABLE_MEMORY_CALLS;
    const stub = remoteObject<MemoryGateway & Wipe>(this.#namespace, address, calls);
    return remoteMethods<MemoryGateway, Pick<MemoryGateway, "eraseMemories">>(() => stub, {
      async eraseMemories(): Promise<Result<{ forgotten: number | null }>> {
        const erased = await eraseObject(address.object, {
          erase: () => stub.eraseMemories(),
          wipe: () => stub.wipe(),
        });
        if (erased !== "wiped") return erased;
        // Nothing is stored any more: this leaves the mark that keeps away what is still on its way here.
        const marked = await stub.eraseMemories();
        return marked.ok ? ok({ forgotten: null }) : marked;
      },
    });
  }
}
