import { DatabaseSync } from "node:sqlite";

/** `SQLITE_BUSY` */
const BUSY = 5;

/** Locks that this process holds: a database that is garbage collected would release its lock. */
const held = new Set<DatabaseSync>();

/**
 * Locks a file for this process until it ends, however it ends. SQLite locks files on every system, and the system releases
 * the lock of a killed process, so that no stale lock ever has to be removed.
 *
 * @param file created when it does not exist
 * @returns false when another process holds the lock
 */
export function tryLock(file: string): boolean {
  const database = new DatabaseSync(file);
  try {
    database.exec("PRAGMA journal_mode = MEMORY");
    database.exec("PRAGMA locking_mode = EXCLUSIVE");
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === BUSY) return false;
    throw error;
  }
  held.add(database);
  return true;
}
