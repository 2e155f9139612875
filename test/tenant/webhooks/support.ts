import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { vi } from "vitest";
import type { JsonObject } from "troupe";
import type { WebhookEventType } from "#contract/constants.ts";
import type { PutWebhook, StoredRunWebhook, WebhookDelivery } from "#contract/webhook.ts";
import type { SecretPushConfig } from "#contract/push.ts";
import type { OutboxChange, OutboxEntry } from "#contract/directory.ts";
import { settled, tenantObject, tenantStub, type TenantStub } from "../../team/support/tenant.ts";
import { value } from "../../team/support/team.ts";
import { PATIENCE } from "../../support/patience.ts";

let count = 0;

export const URL_A = "https://a.example.com/hook";

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A tenant of a test, and its webhooks. */
export class TestTenant {
  readonly stub: TenantStub = tenantStub(`webhooks-${++count}`);
  #number = Date.now() * 1000;
  #settled = false;
  readonly #places = new Map<string, number>();

  /** Returns the secret of a new webhook. */
  async put(id: string, input: Partial<PutWebhook> = {}): Promise<string> {
    const put = await this.stub.putWebhook(id, {
      url: URL_A,
      events: ["run.completed"],
      team: null,
      description: null,
      enabled: true,
      ...input,
    });
    // The alarm of a new tenant tells the registry: what a test does with alarms must not meet it.
    if (!this.#settled) await settled(this.stub);
    this.#settled = true;
    return value(put).secret ?? "";
  }

  /** Reports to the tenant what happened, as its teams do: those of one team in one delivery. */
  async offer(...events: TestEvent[]): Promise<void> {
    for (const team of new Set(events.map((one) => one.team))) {
      const entries = events
        .filter((one) => one.team === team)
        .map(({ change }): OutboxEntry => ({ ...change, number: this.#number++ }));
      const place = this.#places.get(team) ?? null;
      const acknowledged = await this.stub.deliver({ team, place, entries });
      this.#places.set(team, acknowledged.place);
    }
  }

  /** Completes runs of a team. */
  async complete(team: string, ...runs: string[]): Promise<void> {
    await this.offer(...runs.map((run) => event(team, run)));
  }

  async deliveries(id = "hook"): Promise<WebhookDelivery[]> {
    return value(await this.stub.webhookDeliveries(id, { limit: 200 })).deliveries;
  }

  /** Waits until deliveries are as a test expects them. */
  async until(
    fits: (deliveries: WebhookDelivery[]) => boolean,
    id = "hook",
  ): Promise<WebhookDelivery[]> {
    return vi.waitUntil(async () => {
      const deliveries = await this.deliveries(id);
      return fits(deliveries) && deliveries;
    }, PATIENCE);
  }

  /** Lets time pass, and the alarm fire. */
  async pass(milliseconds: number): Promise<void> {
    vi.setSystemTime(Date.now() + milliseconds);
    await runDurableObjectAlarm(tenantObject(this.stub));
  }

  alarm(): Promise<number | null> {
    return runInDurableObject(tenantObject(this.stub), (_, state) => state.storage.getAlarm());
  }

  evict(): Promise<void> {
    return evictDurableObject(tenantObject(this.stub));
  }

  /** Ends what its webhooks still have to do: the receivers belong to the next test. */
  async end(): Promise<void> {
    await runInDurableObject(tenantObject(this.stub), (_, state) => state.storage.deleteAlarm());
    await this.evict();
  }

  rowsWritten(): Promise<number> {
    return runInDurableObject(tenantObject(this.stub), (object) => object.rowsWritten);
  }

  sql<Row extends Record<string, SqlStorageValue>>(query: string): Promise<Row[]> {
    return runInDurableObject(tenantObject(this.stub), (_, state) =>
      state.storage.sql.exec<Row>(query).toArray(),
    );
  }
}

/** A change that a team reports. */
export interface TestEvent {
  team: string;
  change: OutboxChange;
}

/** The end of a run, or another event of one. */
export function event(
  team: string,
  run: string,
  {
    type = "run.completed",
    data = {},
    webhook,
    push,
  }: {
    type?: WebhookEventType;
    data?: JsonObject;
    webhook?: StoredRunWebhook;
    /** Configs that it is sent to. */
    push?: readonly SecretPushConfig[];
  } = {},
): TestEvent {
  const common = webhook === undefined ? {} : { webhook };
  if (type === "message") {
    return { team, change: { kind: "message", run_id: run, message: data, ...common } };
  }
  const time = new Date().toISOString();
  const status = type.slice("run.".length) as "completed" | "failed" | "cancelled" | "waiting";
  return {
    team,
    change: {
      kind: "run",
      run: {
        id: run,
        team_id: team,
        status,
        component_version: 1,
        stop_reason: null,
        error: null,
        usage: { prompt_tokens: 0, completion_tokens: 0 },
        models: {},
        task: null,
        answer: null,
        cost: null,
        turns: 1,
        retry_of: null,
        metadata: data,
        created_at: time,
        started_at: time,
        ended_at: status === "waiting" ? null : time,
      },
      team_usage: { prompt_tokens: 0, completion_tokens: 0 },
      ...(push && { push: { configs: push, requests: [], answer: null } }),
      ...common,
    },
  };
}
