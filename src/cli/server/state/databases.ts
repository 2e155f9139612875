// The databases of the runtime, one for each object: they are read and removed while it does not run.

import { closeSync, globSync, openSync, readSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A database without tables is one page. */
const PAGE_BYTES = 4_096;
/** The header of the file, and the beginning of that of its first page, with the number of the page's cells. */
const HEADER_BYTES = 105;
/** The page is a leaf of a table. */
const LEAF = 0x0d;

/**
 * Ids of stored teams that no list shows yet, because an early version without lists stored them. A team is listed once it
 * is loaded.
 *
 * @param directory the directory of the state
 */
export function unlistedTeams(directory: string): string[] {
  return globSync("v3/do/*TeamObject/*.sqlite", { cwd: directory }).flatMap((file) => {
    try {
      return unlistedTeam(join(directory, file)) ?? [];
    } catch {
      // Not the database of a team, or of another version of SQLite: the team is listed when it is used.
      return [];
    }
  });
}

function unlistedTeam(file: string): string | undefined {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const outbox = db.prepare("select 1 from sqlite_master where name = 'outbox'").get();
    if (outbox !== undefined) return undefined;
    const row = db.prepare("select value from meta where name = 'team'").get();
    return row && String(JSON.parse(String(row["value"])).id);
  } finally {
    db.close();
  }
}

/**
 * Removes the databases of deleted objects: workerd keeps a file without tables of each. It makes a new one for an object that
 * comes back.
 *
 * @param directory the directory of the state
 */
export function removeEmptyDatabases(directory: string): void {
  const files = new Set(globSync("v3/do/*/*.sqlite*", { cwd: directory }));
  for (const file of files) {
    // That of the alarms is not an object's.
    if (!/[0-9a-f]{64}\.sqlite$/.test(file)) continue;
    const path = join(directory, file);
    const isEmpty = files.has(`${file}-wal`) ? hasNoTables(path) : isOnePageWithoutTables(path);
    if (!isEmpty) continue;
    // The database first: without its log, it might have the tables again. SQLite drops the log of a database that is new.
    for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  }
}

/** Reads the bytes, because opening the databases of thousands of teams would take seconds. */
function isOnePageWithoutTables(path: string): boolean {
  const { size } = statSync(path);
  // Created, and killed before the first write.
  if (size === 0) return true;
  if (size !== PAGE_BYTES) return false;
  const header = Buffer.alloc(HEADER_BYTES);
  const file = openSync(path, "r");
  try {
    readSync(file, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(file);
  }
  return header[100] === LEAF && header.readUInt16BE(103) === 0;
}

/** With what its log adds to it. */
function hasNoTables(path: string): boolean {
  try {
    const db = new DatabaseSync(path, { readOnly: true });
    try {
      return db.prepare("select 1 from sqlite_master").get() === undefined;
    } finally {
      db.close();
    }
  } catch {
    // Damaged, or of another version of SQLite: the runtime decides about it.
    return false;
  }
}
