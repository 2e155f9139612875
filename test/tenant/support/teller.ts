import { expect } from "vitest";
import type { ListedRun, OutboxChange, OutboxEntry } from "#contract/directory.ts";
import type { TenantStub } from "../../team/support/tenant.ts";

/** A team as its tenant hears of it. */
export class Teller {
  readonly #tenant: TenantStub;
  readonly id: string;
  #number = 0;
  place: number | null = null;

  constructor(tenant: TenantStub, id: string) {
    this.#tenant = tenant;
    this.id = id;
  }

  entries(...changes: OutboxChange[]): OutboxEntry[] {
    return changes.map((change) => ({ ...change, number: ++this.#number }));
  }

  async tell(...changes: OutboxChange[]): Promise<void> {
    const entries = this.entries(...changes);
    const acknowledged = await this.#tenant.deliver({ team: this.id, place: this.place, entries });
    expect(acknowledged.number).toBe(this.#number);
    this.place = acknowledged.place;
  }
}

export function made(
  label: string | null = null,
  metadata: Record<string, string> = {},
): OutboxChange {
  const time = "2026-01-01T00:00:00.000Z";
  const facts = { provider: "p", component_version: 1, created_at: time, updated_at: time };
  return { kind: "team", team: { label, metadata, ...facts } };
}

export type RunChange = Extract<OutboxChange, { kind: "run" }>;

export function run(team: string, id: string, status: ListedRun["status"], minute = 0): RunChange {
  const at = (seconds: number): string =>
    new Date(Date.UTC(2026, 0, 2, 0, minute, seconds)).toISOString();
  const over = status === "completed" || status === "failed" || status === "cancelled";
  return {
    kind: "run",
    team_usage: { prompt_tokens: over ? 5 : 0, completion_tokens: 0 },
    run: {
      id,
      team_id: team,
      status,
      stop_reason: null,
      error: null,
      usage: { prompt_tokens: 5, completion_tokens: 0 },
      turns: 1,
      component_version: 1,
      models: {},
      task: null,
      answer: null,
      cost: null,
      retry_of: null,
      metadata: {},
      created_at: at(0),
      started_at: at(0),
      ended_at: over ? at(30) : null,
    },
  };
}
