import { DatabaseSync } from "node:sqlite";

/** `SQLITE_BUSY` */
const BUSY = 5;

/** The locks of this process. They are kept here because a garbage-collected database would release its lock. */
const held = new Set<DatabaseSync>();

/**
 * Locks a file until this process ends. SQLite locks files on every system, and the system releases the lock of a killed
 * process, so no stale lock ever has to be removed.
 *
 * @param file created when it does not exist
 * @returns false when another process has the lock
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
