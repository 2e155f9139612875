import type { Result } from "../../contract/result.ts";
import type { TenantList } from "../../contract/tenant.ts";
import type { TenantGateway, Tenants } from "../../contract/tenant-gateway.ts";
import { REGISTRY } from "./registry.ts";

/** A tenant object as seen from a Worker. */
type TenantStub = TenantGateway & {
  tenants(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
};

/** Finds tenant objects in a Durable Object namespace. */
export class DurableObjectTenants implements Tenants {
  readonly #namespace: DurableObjectNamespace;

  constructor(namespace: DurableObjectNamespace) {
    this.#namespace = namespace;
  }

  tenant(id: string): TenantGateway {
    return this.#stub(id);
  }

  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>> {
    return this.#stub(REGISTRY).tenants(page);
  }

  #stub(name: string): TenantStub {
    return this.#namespace.get(this.#namespace.idFromName(name)) as unknown as TenantStub;
  }
}
