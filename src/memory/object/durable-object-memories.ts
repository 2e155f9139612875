import type {
  CollectionGateway,
  Memories,
  MemoryGateway,
} from "../../contract/gateways/memory-gateway.ts";
import { typedStub } from "../../sqlite/remote-methods.ts";

/** Finds objects of memories in a Durable Object namespace. */
export class DurableObjectMemories implements Memories {
  readonly #namespace: DurableObjectNamespace;

  constructor(namespace: DurableObjectNamespace) {
    this.#namespace = namespace;
  }

  user(tenant: string, user: string): MemoryGateway {
    return typedStub<MemoryGateway>(this.#namespace, `${tenant}/user/${user}`);
  }

  tenant(tenant: string): MemoryGateway {
    return typedStub<MemoryGateway>(this.#namespace, `${tenant}/tenant`);
  }

  collection(tenant: string, name: string): CollectionGateway {
    return typedStub<CollectionGateway>(this.#namespace, `${tenant}/collection/${name}`);
  }
}
