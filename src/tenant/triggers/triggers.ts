import type { Sealer, UnreadableWords } from "../../secrets/sealer.ts";
import type { Database } from "../../sqlite/database.ts";
import { SecretStore } from "../webhooks/secret-store.ts";
import { TriggerDeliveries } from "./trigger-deliveries.ts";
import { TriggerStore } from "./trigger-store.ts";

/** The triggers of a tenant's teams, their secrets and their deliveries. */
export class Triggers {
  readonly db: Database;
  readonly store: TriggerStore;
  readonly deliveries: TriggerDeliveries;
  /** By {@link secretsOf}, beside those of webhooks, whose ids have no slash. */
  readonly secrets: SecretStore;

  constructor(db: Database, sealer: Sealer) {
    this.db = db;
    this.store = new TriggerStore(db);
    this.deliveries = new TriggerDeliveries(db);
    this.secrets = new SecretStore(db, sealer, ofTrigger);
  }

  /** Call it in a transaction. */
  remove(team: string, id: string): void {
    this.secrets.remove(secretsOf(team, id));
    this.deliveries.remove(team, id);
    this.store.remove(team, id);
  }

  /** Removes those of a team that was deleted. Call it in a transaction. */
  removeTeam(team: string): void {
    for (const id of this.store.ids(team)) this.remove(team, id);
  }
}

/** The name under which the secrets of a trigger are stored. */
export function secretsOf(team: string, id: string): string {
  return `${team}/${id}`;
}

function ofTrigger(name: string): UnreadableWords {
  const [team, id] = name.split("/");
  return {
    what: `The secret of the trigger ${JSON.stringify(id)}`,
    remedy: `give it another one (POST /v1/teams/${team}/triggers/${id}/rotate_secret)`,
  };
}
