import type { PutTriggerInput, StoredTrigger } from "../../contract/gateways/trigger-gateway.ts";
import type { Database } from "../../sqlite/database.ts";

/** The triggers of a tenant's teams. */
export class TriggerStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(team: string, id: string): StoredTrigger | undefined {
    const query = "select record from inbound where team = ? and id = ?";
    return this.#read(query, team, id)[0];
  }

  /** Those after an id. */
  page(team: string, after: string, limit: number): StoredTrigger[] {
    const query = "select record from inbound where team = ? and id > ? order by id limit ?";
    return this.#read(query, team, after, limit);
  }

  ofMailbox(mailbox: string): { team: string; trigger: string } | undefined {
    const query = "select team, id as trigger_id from inbound where mailbox = ?";
    const row = this.#db.first<{ team: string; trigger_id: string }>(query, mailbox);
    return row && { team: row.team, trigger: row.trigger_id };
  }

  put(
    team: string,
    id: string,
    input: Omit<PutTriggerInput, "notify"> & Pick<StoredTrigger, "notify">,
    now: number,
  ): StoredTrigger {
    const { kind, task, on_conflict, filter, user, mailbox, notify = [] } = input;
    const created_at = this.get(team, id)?.created_at ?? new Date(now).toISOString();
    const fields = { id, kind, task, on_conflict, filter, user, created_at, mailbox };
    const trigger = { ...fields, ...(notify.length > 0 && { notify }) };
    this.#db.write(
      `insert into inbound values (?, ?, ?, ?)
         on conflict (team, id) do update set mailbox = excluded.mailbox, record = excluded.record`,
      team,
      id,
      mailbox,
      JSON.stringify(trigger),
    );
    return trigger;
  }

  remove(team: string, id: string): void {
    this.#db.write("delete from inbound where team = ? and id = ?", team, id);
  }

  /** The ids of all triggers of a team. */
  ids(team: string): string[] {
    return this.#db
      .all<{ id: string }>("select id from inbound where team = ?", team)
      .map(({ id }) => id);
  }

  #read(query: string, ...bindings: (string | number)[]): StoredTrigger[] {
    return this.#db
      .all<{ record: string }>(query, ...bindings)
      .map(({ record }) => JSON.parse(record) as StoredTrigger);
  }
}
