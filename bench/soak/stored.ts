import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** What a state directory takes. */
export interface Size {
  files: number;
  bytes: number;
}

export function sizeOf(state: string): Size {
  let bytes = 0;
  let files = 0;
  for (const file of databases(state, "*", "sqlite*")) {
    try {
      bytes += statSync(file).size;
      files++;
    } catch {
      // A log that has just been removed.
    }
  }
  return { files, bytes };
}

/**
 * Tables of a tenant whose rows outlast their teams: the usage, and for seven days that a team was deleted and a question closed,
 * for watchers that reconnect.
 */
const OUTLASTS: ReadonlySet<string> = new Set(["usage", "user_usage", "gone", "closed"]);

/** Rows that a deletion has left behind. */
export interface Remains {
  /** Rows of tenants that name a deleted team, by table. */
  rows: Map<string, number>;
  /** The same in the tables that keep them. */
  kept: Map<string, number>;
  /** Databases of team objects that have a table. */
  teams: number;
}

/**
 * Reads the databases of a server that has stopped, whose teams have all been deleted.
 *
 * @param isDeleted true for the id of a team that was deleted
 */
export function remainsIn(state: string, isDeleted: (id: string) => boolean): Remains {
  const remains: Remains = { rows: new Map(), kept: new Map(), teams: 0 };
  for (const file of databases(state, "*TeamObject", "sqlite")) {
    using db = new DatabaseSync(file, { readOnly: true });
    if (tablesOf(db).length > 0) remains.teams++;
  }
  for (const file of databases(state, "*TenantObject", "sqlite")) {
    using db = new DatabaseSync(file, { readOnly: true });
    for (const table of tablesOf(db)) {
      const into = OUTLASTS.has(table) ? remains.kept : remains.rows;
      const count = rowsOf(db, table, isDeleted);
      if (count > 0) into.set(table, (into.get(table) ?? 0) + count);
    }
  }
  return remains;
}

/** Counts the rows that name a deleted team in any of their columns. */
function rowsOf(db: DatabaseSync, table: string, isDeleted: (id: string) => boolean): number {
  let count = 0;
  for (const row of db.prepare(`select * from "${table}"`).iterate()) {
    if (Object.values(row).some((value) => namesDeleted(value, isDeleted))) count++;
  }
  return count;
}

function namesDeleted(value: unknown, isDeleted: (id: string) => boolean): boolean {
  if (typeof value !== "string") return false;
  return (value.match(/[\w-]+/g) ?? []).some(isDeleted);
}

function tablesOf(db: DatabaseSync): string[] {
  return db
    .prepare("select name from sqlite_master where type = 'table' and substr(name, 1, 4) <> '_cf_'")
    .all()
    .map(({ name }) => String(name));
}

/** The databases of a kind of objects, without the databases that the runtime keeps for alarms. */
function databases(state: string, kind: string, ending: string): string[] {
  return globSync(`v3/do/${kind}/*.${ending}`, { cwd: state })
    .filter((file) => !file.includes("metadata.sqlite"))
    .map((file) => join(state, file));
}
