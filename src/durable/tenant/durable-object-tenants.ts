import { throughWorker, whenLeft } from "../stream/stream-places.ts";
import type { Problem } from "../../contract/problem.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { TenantList } from "../../contract/tenant.ts";
import type { TenantGateway, Tenants } from "../../contract/gateways/tenant-gateway.ts";
import { REGISTRY } from "./registry.ts";

/** A tenant object as a Worker calls it: its feed over `fetch`, everything else over RPC. */
type TenantStub = Omit<TenantGateway, "events"> & {
  tenants(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
  fetch(address: string): Promise<Response>;
  endStream(name: string): Promise<void>;
};

/** Finds tenant objects in a Durable Object namespace. */
export class DurableObjectTenants implements Tenants {
  readonly #namespace: DurableObjectNamespace;

  constructor(namespace: DurableObjectNamespace) {
    this.#namespace = namespace;
  }

  tenant(id: string): TenantGateway {
    const stub = this.#stub(id);
    return {
      info: () => stub.info(),
      put: (input) => stub.put(input),
      destroy: () => stub.destroy(),
      limits: () => stub.limits(),
      createKey: (input) => stub.createKey(input),
      keys: (page) => stub.keys(page),
      revokeKey: (key) => stub.revokeKey(key),
      verifyKey: (key, hash) => stub.verifyKey(key, hash),
      reserve: (input) => stub.reserve(input),
      forget: (team) => stub.forget(team),
      teams: (query) => stub.teams(query),
      runs: (query) => stub.runs(query),
      conversationRuns: (query) => stub.conversationRuns(query),
      requests: (query) => stub.requests(query),
      usageReport: (query) => stub.usageReport(query),
      putWebhook: (webhook, input) => stub.putWebhook(webhook, input),
      webhooks: () => stub.webhooks(),
      webhook: (webhook) => stub.webhook(webhook),
      deleteWebhook: (webhook) => stub.deleteWebhook(webhook),
      defaultWebhookSecret: () => stub.defaultWebhookSecret(),
      rotateWebhookSecret: (webhook, options) => stub.rotateWebhookSecret(webhook, options),
      webhookDeliveries: (webhook, query) => stub.webhookDeliveries(webhook, query),
      retryWebhookDelivery: (webhook, delivery) => stub.retryWebhookDelivery(webhook, delivery),
      testWebhook: (webhook) => stub.testWebhook(webhook),
      events: async (after, runs, { credential, signal }) => {
        const stream = crypto.randomUUID();
        const query = new URLSearchParams({
          ...(after !== null && { after: String(after) }),
          ...(runs && { runs: "1" }),
          credential,
          stream,
        });
        whenLeft(signal, () => stub.endStream(stream));
        const response = await stub.fetch(`https://tenant/events?${query.toString()}`);
        if (!response.ok) return { ok: false, problem: await response.json<Problem>() };
        if (response.body === null) throw new TypeError("the tenant's stream has no body");
        return ok(throughWorker(response.body));
      },
    };
  }

  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>> {
    return this.#stub(REGISTRY).tenants(page);
  }

  #stub(name: string): TenantStub {
    return this.#namespace.get(this.#namespace.idFromName(name)) as unknown as TenantStub;
  }
}
