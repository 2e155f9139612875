import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { KillableWorker } from "./killable-worker.ts";

export type ObjectClass = "TeamObject" | "TenantObject" | "MemoryObject";

/** The file of the object of a class that has a table, with everything in it. @param part what it contains */
export function fileOf(
  { state }: KillableWorker,
  of: ObjectClass,
  table: string,
  part = "",
): string {
  const directory = join(state, of);
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(".sqlite") || name.startsWith("metadata")) continue;
    const path = join(directory, name);
    const db = new DatabaseSync(path);
    db.exec("pragma wal_checkpoint(truncate)");
    const found = db.prepare("select 1 from sqlite_master where name = ?").get(table);
    db.close();
    if (found !== undefined && readFileSync(path).includes(part)) return path;
  }
  throw new Error(`no object of class ${of} has a table ${table}`);
}

/** What is made of a file. */
export type Damage = (file: Buffer, path: string) => Buffer;

/** Damages the file of a Worker that does not run. */
export function damaged(path: string, damage: Damage): void {
  writeFileSync(path, damage(readFileSync(path), path));
  for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
}

/** Overwrites the first page of a table. */
export function withoutTable(name: string): Damage {
  return (file, path) => {
    const db = new DatabaseSync(path);
    const { page } = db
      .prepare("select rootpage as page from sqlite_master where name = ?")
      .get(name) as { page: number };
    db.close();
    return file.fill("A", (page - 1) * 4096, page * 4096);
  };
}
