import type { RunKey } from "../../contract/directory.ts";
import type { Database } from "../../sqlite/database.ts";
import { OpenRuns, readRunRow, type RunRow } from "./open-runs.ts";

/** The list of runs, ordered by status and age. Runs without an outcome are in memory too. */
export class DirectoryRunStore {
  readonly #db: Database;
  readonly open: OpenRuns;

  constructor(db: Database) {
    this.#db = db;
    this.open = new OpenRuns(db);
  }

  save(row: RunRow): void {
    const { run } = row;
    const created = Date.parse(run.created_at);
    const before = this.open.get(run.team_id, run.id);
    const record = JSON.stringify(row);
    if (before) {
      this.#db.write(
        "update run set status = ?, record = ? where status = ? and created = ? and team = ? and id = ?",
        run.status,
        record,
        before.run.status,
        created,
        run.team_id,
        run.id,
      );
    } else {
      this.#db.write(
        "insert or replace into run values (?, ?, ?, ?, ?)",
        run.status,
        created,
        run.team_id,
        run.id,
        record,
      );
    }
    this.open.set(row);
  }

  get(team: string, { status, created, id }: RunKey): RunRow | undefined {
    const row = this.#db.first<{ record: string }>(
      "select record from run where status = ? and created = ? and team = ? and id = ?",
      status,
      created,
      team,
      id,
    );
    return row && readRunRow(row.record);
  }

  delete(team: string, { status, created, id }: RunKey): void {
    this.#db.write(
      "delete from run where status = ? and created = ? and team = ? and id = ?",
      status,
      created,
      team,
      id,
    );
  }

  /** Deletes the runs without an outcome. */
  deleteOpen(team: string): void {
    for (const { run } of this.open.of(team)) {
      this.delete(team, { ...run, created: Date.parse(run.created_at) });
    }
    this.open.remove(team);
  }
}
