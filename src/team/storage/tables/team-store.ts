import type { ComponentModel } from "../../../core/component/component-model.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { RequestUsage } from "../../../core/models/request-usage.ts";
import type { Idempotency } from "../../../contract/common.ts";
import type { TeamInfo } from "../../../contract/team.ts";
import type { ConversationKey } from "../../../contract/directory.ts";
import { type MetaKey, type MetaStore, objectKey } from "./meta-store.ts";

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
  /** The caller that created it. Missing in teams of earlier versions. */
  by?: string;
  /** Tokens of all ended runs. */
  usage: RequestUsage;
  /** Cost of all ended runs, as far as it is known. Missing in teams of versions without prices. */
  cost?: number | null;
  /** Counts resets and loaded states. */
  epoch: number;
  idempotency: Idempotency | null;
  forked_from: TeamInfo["forked_from"];
  /** The caller and the team of this conversation. Missing in other teams. */
  conversation?: ConversationKey;
  /** To whom it belongs. Missing in teams of the tenant. */
  user?: string;
  /** Seconds after `updated_at` after which the team is erased, unless a run is active. Missing in a permanent team. */
  expires_in?: number;
  created_at: string;
  updated_at: string;
}

const TEAM = objectKey<TeamRecord>("team", ["id", "created_at"]);
const COMPONENT = componentKey("component");

/** The team's record and its component, whose secrets are sealed. */
export class TeamStore {
  readonly #meta: MetaStore;
  #record: TeamRecord | undefined;
  #component: ComponentModel | undefined;

  constructor(meta: MetaStore) {
    this.#meta = meta;
  }

  get record(): TeamRecord {
    this.#record ??= stored(this.#meta.read(TEAM), TEAM);
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
    this.#component ??= stored(this.#meta.read(COMPONENT), COMPONENT);
    return this.#component;
  }

  replaceComponent(component: ComponentModel): void {
    this.#writeComponent(component);
    this.save({ component_version: this.record.component_version + 1 });
  }

  #write(record: TeamRecord): void {
    this.#meta.write(TEAM, record);
    this.#record = record;
  }

  #writeComponent(component: ComponentModel): void {
    this.#meta.write(COMPONENT, component);
    this.#component = component;
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#record = undefined;
    this.#component = undefined;
  }
}

export function componentKey(name: string): MetaKey<ComponentModel> {
  return objectKey<ComponentModel>(name, ["provider"]);
}

function stored<T>(value: T | undefined, { name }: MetaKey<T>): T {
  if (value === undefined) throw new TypeError(`nothing is stored as ${name}`);
  return value;
}
