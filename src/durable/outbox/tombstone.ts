import type { Database } from "../storage/database.ts";
import { dropIndexes } from "../storage/search-index.ts";
import { hasTables } from "../storage/schema.ts";

/** The names of a deleted team whose tenant does not know yet. */
export interface Tombstone {
  tenant: string;
  team: string;
}

/** The tombstone in this object, if there is one. Writes nothing. */
export function findTombstone(db: Database): Tombstone | undefined {
  if (!hasTables(db)) return undefined;
  const row = db.first<{ value: string }>("select value from meta where name = 'tombstone'");
  return row && (JSON.parse(row.value) as Tombstone);
}

/** Deletes all rows but the outbox's; must be called inside the transaction that writes its last entry. */
export function leaveTombstone(db: Database, tombstone: Tombstone): void {
  dropIndexes(db, new Set());
  // Not dropped: a table that is being read cannot be.
  for (const { name } of db.all<{ name: string }>(
    `select name from sqlite_master where type = 'table' and name not in ('meta', 'outbox')
       and substr(name, 1, 4) <> '_cf_' and substr(name, 1, 7) <> 'sqlite_'`,
  )) {
    db.write(`delete from "${name}"`);
  }
  db.write("delete from meta where name <> 'schema'");
  db.write("insert into meta values ('tombstone', ?)", JSON.stringify(tombstone));
}
