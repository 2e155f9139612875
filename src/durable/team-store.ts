import type { ComponentModel } from "../core/component/component.ts";
import type { JsonObject } from "../core/json.ts";
import type { RequestUsage } from "../core/models/llm-messages.ts";
import type { Idempotency } from "../core/run/gateway.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";

/** What is stored of the team itself. Times are ISO 8601 UTC. */
export interface TeamRecord {
  id: string;
  label: string | null;
  metadata: JsonObject;
  component_version: number;
  /** Tokens of all runs that are over. */
  usage: RequestUsage;
  /** Counts resets and loads of state. */
  epoch: number;
  idempotency: Idempotency | null;
  created_at: string;
  updated_at: string;
}

/** The team's own row and its component, as it is stored: secrets sealed. */
export class TeamStore {
  readonly #db: Database;
  readonly #bodies: Bodies;
  #record: TeamRecord | undefined;

  constructor(db: Database, bodies: Bodies) {
    this.#db = db;
    this.#bodies = bodies;
  }

  get record(): TeamRecord {
    this.#record ??= JSON.parse(this.#read("team")) as TeamRecord;
    return this.#record;
  }

  /** Changes the record and notes the time. */
  save(changes: Partial<TeamRecord>): void {
    const record = { ...this.record, ...changes, updated_at: new Date().toISOString() };
    this.#write("team", record);
    this.#record = record;
  }

  create(record: TeamRecord, component: ComponentModel): void {
    this.#write("team", record);
    this.#record = record;
    this.#write("component", component);
  }

  get component(): ComponentModel {
    return JSON.parse(this.#read("component")) as ComponentModel;
  }

  replaceComponent(component: ComponentModel): void {
    this.#bodies.remove("meta:component");
    this.#write("component", component);
    this.save({ component_version: this.record.component_version + 1 });
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#record = undefined;
  }

  #read(name: string): string {
    const row = this.#db.first<{ value: string | null }>(
      "select value from meta where name = ?",
      name,
    );
    return this.#bodies.load(`meta:${name}`, row?.value ?? null);
  }

  #write(name: string, value: unknown): void {
    this.#db.write(
      "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value",
      name,
      this.#bodies.store(`meta:${name}`, JSON.stringify(value)),
    );
  }
}
