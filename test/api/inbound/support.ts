import { createHmac, randomUUID } from "node:crypto";
import { Webhook } from "standardwebhooks";
import type { RunInfo } from "#contract/run.ts";
import type { CreatedTrigger, PutTrigger, TriggerDelivery } from "#contract/team/trigger.ts";
import { jsonInit } from "../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import type { TestWorker } from "../../support/worker.ts";

/** A signed request to the address of a trigger. */
export interface Signed {
  headers: Record<string, string>;
  body: string;
}

const hmac = (secret: string, text: string): string =>
  createHmac("sha256", secret).update(text).digest("hex");

/** Requests as each sender signs them. @param at seconds */
export const signed = {
  github(
    secret: string,
    payload: unknown,
    { id = randomUUID(), event = "issues" }: { id?: string; event?: string } = {},
  ): Signed {
    const body = JSON.stringify(payload);
    return {
      body,
      headers: {
        "content-type": "application/json",
        "x-github-event": event,
        "x-github-delivery": id,
        "x-hub-signature-256": `sha256=${hmac(secret, body)}`,
      },
    };
  },
  stripe(secret: string, payload: unknown, at = now()): Signed {
    const body = JSON.stringify(payload);
    const signature = `t=${at},v1=${hmac(secret, `${at}.${body}`)},v0=00`;
    return { body, headers: { "content-type": "application/json", "stripe-signature": signature } };
  },
  slack(secret: string, payload: unknown, at = now()): Signed {
    const body = JSON.stringify(payload);
    return {
      body,
      headers: {
        "content-type": "application/json",
        "x-slack-request-timestamp": String(at),
        "x-slack-signature": `v0=${hmac(secret, `v0:${at}:${body}`)}`,
      },
    };
  },
  standard(
    secret: string,
    payload: unknown,
    { id = `msg_${randomUUID()}`, at = now() } = {},
  ): Signed {
    const body = JSON.stringify(payload);
    return {
      body,
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(at),
        "webhook-signature": new Webhook(secret).sign(id, new Date(at * 1000), body),
      },
    };
  },
  plain(secret: string, payload: unknown, key?: string): Signed {
    return {
      body: JSON.stringify(payload),
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${secret}`,
        ...(key !== undefined && { "idempotency-key": key }),
      },
    };
  },
};

export function now(): number {
  return Math.floor(Date.now() / 1000);
}

let count = 0;

/** A team with triggers, as its operator and the senders of events see it. */
export class TriggeredTeam {
  readonly id: string;
  readonly #worker: TestWorker;
  readonly #key: Record<string, string>;

  private constructor(worker: TestWorker, id: string, key: string | undefined) {
    this.#worker = worker;
    this.id = id;
    this.#key = key === undefined ? {} : { authorization: `Bearer ${key}` };
  }

  static async create(
    worker: TestWorker,
    { component = SAMPLE_COMPONENT, key }: { component?: unknown; key?: string } = {},
  ): Promise<TriggeredTeam> {
    const team = new TriggeredTeam(worker, `team-${++count}`, key);
    await team.json("POST", "/v1/teams", { id: team.id, component });
    return team;
  }

  ask(method: string, path: string, body?: unknown): Promise<Response> {
    const init: RequestInit = body === undefined ? { method } : jsonInit(body, method);
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(this.#key)) headers.set(name, value);
    return this.#worker.fetch(path, { ...init, headers });
  }

  async json<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<T> {
    const response = await this.ask(method, path, body);
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  path(trigger = ""): string {
    return `/v1/teams/${this.id}/triggers${trigger && `/${trigger}`}`;
  }

  put(id: string, input: Partial<PutTrigger>): Promise<CreatedTrigger> {
    return this.json("PUT", this.path(id), { kind: "github", task: "Go.", ...input });
  }

  /** Sends an event to the address of a trigger. */
  send(trigger: string, { headers, body }: Signed, tenant = "local"): Promise<Response> {
    const path = `/in/${tenant}/${this.id}/${trigger}`;
    return this.#worker.fetch(path, { method: "POST", headers, body });
  }

  async deliveries(id: string): Promise<TriggerDelivery[]> {
    const page = await this.json<{ deliveries: TriggerDelivery[] }>(
      "GET",
      `${this.path(id)}/deliveries`,
    );
    return page.deliveries;
  }

  async runs(): Promise<RunInfo[]> {
    return (await this.json<{ runs: RunInfo[] }>("GET", `/v1/teams/${this.id}/runs`)).runs;
  }
}
