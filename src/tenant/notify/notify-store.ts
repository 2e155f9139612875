import type { WebhookEvent } from "../../contract/webhook.ts";
import type { StoredReceiver } from "../../contract/notify.ts";
import type { Database } from "../../sqlite/database.ts";

/** A receiver of a team's messages. */
export interface TeamReceiver extends StoredReceiver {
  disabled_reason: string | null;
  disabled_at: string | null;
}

/** The receivers of each team that has some. */
export class NotifyStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  of(team: string): TeamReceiver[] {
    const row = this.#db.first<{ record: string }>(
      "select record from notify where team = ?",
      team,
    );
    return row === undefined ? [] : (JSON.parse(row.record) as TeamReceiver[]);
  }

  find(team: string, id: string): TeamReceiver | undefined {
    return this.of(team).find(({ shown }) => shown.id === id);
  }

  /** The receivers that get a message about an event. */
  wanting({ type, team_id }: Pick<WebhookEvent, "type" | "team_id">): TeamReceiver[] {
    return this.of(team_id).filter(
      ({ disabled_at, shown }) => disabled_at === null && shown.on.includes(type),
    );
  }

  /** Replaces the receivers of a team, all of which are enabled from then on. */
  put(team: string, receivers: readonly StoredReceiver[]): void {
    this.#save(
      team,
      receivers.map((one) => ({ ...one, disabled_reason: null, disabled_at: null })),
    );
  }

  disable(team: string, id: string, disabled_reason: string, now: number): void {
    const disabled_at = new Date(now).toISOString();
    this.#save(
      team,
      this.of(team).map((one) =>
        one.shown.id === id ? { ...one, disabled_reason, disabled_at } : one,
      ),
    );
  }

  /** Forgets the receivers of a team that was deleted. */
  drop(team: string): void {
    if (this.#db.first("select 1 as found from notify where team = ?", team) !== undefined) {
      this.#db.write("delete from notify where team = ?", team);
    }
  }

  #save(team: string, receivers: readonly TeamReceiver[]): void {
    if (receivers.length === 0) return this.drop(team);
    this.#db.write(
      "insert into notify values (?, ?) on conflict (team) do update set record = excluded.record",
      team,
      JSON.stringify(receivers),
    );
  }
}
