import { NewerDataError } from "../contract/stored-data.ts";
import type { Database } from "./database.ts";

/**
 * The versions of the tables of a class of objects. Objects store the version of theirs in the table `meta` under
 * `schema`; a version of the code that does not know it refuses the object. So a change that an earlier version could
 * misread needs a migration, even an empty one, and none can be removed.
 */
export interface TableVersions {
  /** The version of tables without a number. */
  unnumbered: number;
  /** The steps that lead from each version to the next, the first ones from `unnumbered`. */
  migrations: readonly (readonly Migration[])[];
}

/** A statement, or what no statement can do. It runs in the transaction of the migration. */
type Migration = string | ((db: Database) => void);

/** The version of the tables that this code creates and expects. */
export function currentVersion({ unnumbered, migrations }: TableVersions): number {
  return unnumbered + migrations.length;
}

/**
 * Creates or migrates the tables of an object. Writes nothing when they are current.
 *
 * @throws NewerDataError before anything else
 */
export function migrateTables(db: Database, versions: TableVersions): void {
  const current = currentVersion(versions);
  const { unnumbered, migrations } = versions;
  const stored = db.hasTable("meta")
    ? db.first<{ value: string }>("select value from meta where name = 'schema'")
    : undefined;
  const version = Number(stored?.value ?? unnumbered);
  if (version > current) throw new NewerDataError(version, current);
  if (version === current) return;
  db.transaction(() => {
    for (const step of migrations.slice(version - unnumbered).flat()) {
      if (typeof step === "string") db.write(step);
      else step(db);
    }
    db.write(
      "insert into meta values ('schema', ?) on conflict (name) do update set value = excluded.value",
      String(current),
    );
  });
}
