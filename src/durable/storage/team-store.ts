import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RequestUsage } from "../../core/models/request-usage.ts";
import type { Idempotency } from "../../contract/gateways/team-gateway.ts";
import type { TeamInfo } from "../../contract/team.ts";
import type { Conversation } from "../../contract/directory.ts";
import type { MetaStore } from "./meta-store.ts";

/** The stored record of the team. Times are ISO 8601 UTC. */
export interface TeamRecord {
  id: string;
  /** Missing in teams stored before tenants listed them. */
  tenant?: string;
  /** Missing in teams stored before sessions existed. */
  session?: string;
  label: string | null;
  metadata: JsonObject;
  component_version: number;
  /** Tokens of all runs that are over. */
  usage: RequestUsage;
  /** Of all runs that are over, as far as it is known. Missing in teams of versions without prices. */
  cost?: number | null;
  /** Counts resets and loads of state. */
  epoch: number;
  idempotency: Idempotency | null;
  forked_from: TeamInfo["forked_from"];
  /** Whose conversation with which team this is. Missing in other teams. */
  conversation?: Conversation;
  /** Seconds after `updated_at` after which it is erased, unless a run is active. Missing in a team that stays. */
  expires_in?: number;
  created_at: string;
  updated_at: string;
}

/** Prefix of the names of replaced components; the first turn of the next component follows. */
const EARLIER = "component:";

/** The team's record and its component, whose secrets are sealed. */
export class TeamStore {
  readonly #meta: MetaStore;
  #record: TeamRecord | undefined;
  #component: ComponentModel | undefined;

  constructor(meta: MetaStore) {
    this.#meta = meta;
  }

  get record(): TeamRecord {
    this.#record ??= this.#meta.read("team") as unknown as TeamRecord;
    return this.#record;
  }

  /** The name of the team at external services (`StepAttempt.session`): random, so that it cannot be guessed. */
  get session(): string {
    const { session = crypto.randomUUID() } = this.record;
    if (this.record.session === undefined) this.save({ session });
    return session;
  }

  /** Changes the record and its `updated_at`. */
  save(changes: Partial<TeamRecord>): void {
    this.#write({ ...this.record, ...changes, updated_at: new Date().toISOString() });
  }

  /** Stores the tenant of a team that was stored before tenants listed them. */
  adopt(tenant: string): void {
    this.#write({ ...this.record, tenant });
  }

  create(record: TeamRecord, component: ComponentModel): void {
    this.#write(record);
    this.#writeComponent(component);
  }

  get component(): ComponentModel {
    this.#component ??= this.#meta.read("component") as unknown as ComponentModel;
    return this.#component;
  }

  /** Keeps the present component for forks of earlier turns. @param turn the first of the new component */
  replaceComponent(component: ComponentModel, turn: number): void {
    this.#meta.write(`${EARLIER}${turn}`, this.component);
    this.#writeComponent(component);
    this.save({ component_version: this.record.component_version + 1 });
  }

  /** The component in use at a turn. */
  componentAt(turn: number): ComponentModel {
    const replaced = this.#meta.names(EARLIER).map(Number);
    const later = replaced.filter((first) => first > turn);
    if (later.length === 0) return this.component;
    return this.#meta.read(`${EARLIER}${Math.min(...later)}`) as unknown as ComponentModel;
  }

  #write(record: TeamRecord): void {
    this.#meta.write("team", record);
    this.#record = record;
  }

  #writeComponent(component: ComponentModel): void {
    this.#meta.write("component", component);
    this.#component = component;
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#record = undefined;
    this.#component = undefined;
  }
}
