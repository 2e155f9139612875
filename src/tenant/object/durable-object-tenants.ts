import type { WatchedChanges } from "../../contract/gateways/tenant-gateway.ts";
import { credentialEnd, credentialRequest } from "../../team/stream/credential-watch.ts";
import { watch, watchRequest } from "../../team/stream/watch-relay.ts";
import type { Problem } from "../../contract/problem.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { TenantList } from "../../contract/tenant/tenant.ts";
import {
  REPEATABLE_TENANT_CALLS,
  type TenantGateway,
  type Tenants,
} from "../../contract/gateways/tenant-gateway.ts";
import type { StreamCaller } from "../../contract/gateways/team-gateway.ts";
import { eraseObject } from "../../sqlite/erase.ts";
import {
  remoteMethods,
  type RemoteObject,
  remoteObject,
  tenantNamed,
} from "../../sqlite/remote-methods.ts";
import type { JsonObject } from "../../core/json.ts";
import { socketRequest } from "../sockets/socket-caller.ts";
import type { TenantMethods } from "./tenant-methods.ts";
import { REGISTRY } from "./registry.ts";

/** A tenant object as a Worker calls it: its feed over `fetch`, everything else over RPC. */
type TenantStub = TenantMethods;

/** Those of the registry read. */
const CALLS = [...REPEATABLE_TENANT_CALLS, "tenants", "noteHash", "tenantOfHash"] as const;

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
    return remoteMethods(() => stub, {
      destroy: async () => {
        const destroyed = await eraseObject(
          { is: "tenant", id },
          { erase: () => stub.destroy(), wipe: () => stub.wipe() },
        );
        return destroyed === "wiped" ? ok(null) : destroyed;
      },
      keyEnds: async (key: string, until: AbortSignal) =>
        credentialEnd(await stub.fetch(credentialRequest(key)), until),
      responseSocket: async (caller: JsonObject, origin: string) => {
        const opened = await stub.fetch(socketRequest({ caller, origin }));
        const { webSocket } = opened;
        // The headers of a response that was received cannot be changed, and CORS adds some.
        if (webSocket !== null) return ok(new Response(null, { status: 101, webSocket }));
        return { ok: false, problem: await opened.json<Problem>() };
      },
      events: async (
        after: number | null,
        changes: WatchedChanges,
        { credential, signal, sees, team_user }: StreamCaller,
      ) => {
        const watched = await watch({
          open: (from) => {
            const stream = crypto.randomUUID();
            const client = { credential, stream, sees, changes, team_user };
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

  noteHash(hash: string, tenant: string): Promise<void> {
    return this.#stub(REGISTRY).noteHash(hash, tenant);
  }

  ofHash(hash: string): Promise<string | null> {
    return this.#stub(REGISTRY).tenantOfHash(hash);
  }

  #stub(name: string): RemoteObject<TenantStub> {
    return remoteObject<TenantStub>(this.#namespace, tenantNamed(name), CALLS);
  }
}
