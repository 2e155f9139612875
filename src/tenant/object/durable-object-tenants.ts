import { credentialEnd, credentialRequest } from "../../team/stream/credential-watch.ts";
import { watch, watchRequest } from "../../team/stream/watch-relay.ts";
import type { Problem } from "../../contract/problem.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { TenantList } from "../../contract/tenant/tenant.ts";
import type { TenantGateway, Tenants } from "../../contract/gateways/tenant-gateway.ts";
import type { StreamCaller } from "../../contract/gateways/team-gateway.ts";
import { remoteMethods, typedStub } from "../../sqlite/remote-methods.ts";
import type { TenantMethods } from "./handlers/tenant-methods.ts";
import { REGISTRY } from "./registry.ts";

/** A tenant object as a Worker calls it: its feed over `fetch`, everything else over RPC. */
type TenantStub = TenantMethods;

/** Finds tenant objects in a Durable Object namespace. */
export class DurableObjectTenants implements Tenants {
  readonly #namespace: DurableObjectNamespace;
  readonly #streamCpuMs: number;

  /** @param streamCpuMs the CPU time that the Worker may use for the stream of one watcher */
  constructor(namespace: DurableObjectNamespace, streamCpuMs: number) {
    this.#namespace = namespace;
    this.#streamCpuMs = streamCpuMs;
  }

  tenant(id: string): TenantGateway {
    const stub = this.#stub(id);
    return remoteMethods(stub, {
      keyEnds: async (key: string, until: AbortSignal) =>
        credentialEnd(await stub.fetch(credentialRequest(key)), until),
      events: async (after: number | null, runs: boolean, { credential, signal }: StreamCaller) => {
        const watched = await watch({
          open: (from) => {
            const client = { credential, stream: crypto.randomUUID(), runs };
            return stub.fetch(watchRequest({ after: from, client }));
          },
          after,
          signal,
          cpuMs: this.#streamCpuMs,
        });
        if (!(watched instanceof Response)) return ok(watched);
        return { ok: false, problem: await watched.json<Problem>() };
      },
    });
  }

  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>> {
    return this.#stub(REGISTRY).tenants(page);
  }

  #stub(name: string): DurableObjectStub & TenantStub {
    return typedStub<TenantStub>(this.#namespace, name);
  }
}
