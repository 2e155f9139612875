import { DatabaseSync } from "node:sqlite";
import { TABLE_VERSIONS } from "#contract/table-versions.ts";
import { objectFiles } from "./two-versions.ts";

interface Table {
  className: string;
  /** What takes back each of the last three migrations, the latest first. */
  steps: readonly string[];
}

/**
 * The statements that give tables the form of the last three versions. A migration that is added to the source has its opposite
 * added here, in the first place, and the last one goes.
 */
const CLASSES: Record<keyof typeof TABLE_VERSIONS, Table> = {
  team: {
    className: "TeamObject",
    steps: [
      // Each team had the tables of steps and of questions, also empty ones.
      `create table if not exists step (
         key text primary key, state text not null, attempt integer not null, policy text not null,
         fingerprint text not null, result text, at integer, ran integer, kind text not null default 'effect', trace text
       ) without rowid;
       create table if not exists question (
         id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null,
         expires_at integer, ran integer not null, answer text, answered_at integer, answered_by text
       ) without rowid`,
      "alter table question drop column answered_by",
      "drop table if exists version",
    ],
  },
  tenant: {
    className: "TenantObject",
    steps: [
      "drop table kept_file; drop table kept_file_piece",
      "drop table tool",
      "drop table skill_version; drop table skill_piece",
    ],
  },
  memory: { className: "MemoryObject", steps: ["drop table meta"] },
};

/** Takes the tables of all objects of a server that does not run back by some versions, with the rows that both versions have. */
export function takeBack(state: string, versions: number): void {
  for (const [name, { className, steps }] of Object.entries(CLASSES)) {
    const known = Math.min(versions, steps.length);
    const version = TABLE_VERSIONS[name as keyof typeof TABLE_VERSIONS] - known;
    for (const path of objectFiles(state, className)) {
      using db = new DatabaseSync(path);
      for (const step of steps.slice(0, known)) db.exec(step);
      // Tables before the first number have none.
      if (version > 0) {
        db.prepare("update meta set value = ? where name = 'schema'").run(String(version));
      }
    }
  }
}

/** The columns of the tables of each object that has the version of this code; an object of another version has none. */
export function columnsOfObjects(state: string): Record<string, string[]> {
  const all: Record<string, string[]> = {};
  for (const [name, { className }] of Object.entries(CLASSES)) {
    for (const path of objectFiles(state, className)) {
      using db = new DatabaseSync(path, { readOnly: true });
      const stored = db.prepare("select value from meta where name = 'schema'").get();
      const version = TABLE_VERSIONS[name as keyof typeof TABLE_VERSIONS];
      const columns = db
        .prepare(
          `select t.name || '.' || c.name || ' ' || c.type as told from sqlite_master t, pragma_table_info(t.name) c
           where t.type = 'table' and t.name not like '\\_cf\\_%' escape '\\' order by told`,
        )
        .all() as { told: string }[];
      all[path] = stored?.["value"] === String(version) ? columns.map(({ told }) => told) : [];
    }
  }
  return all;
}
