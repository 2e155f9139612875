import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Directories of the namespaces in the state directory: their unique keys in the configuration. */
const TEAMS = "TeamObject";
const TENANTS = "TenantObject";

/** A run as stored, the part that matters here. */
export interface StoredRun {
  id: string;
  status: string;
}

export interface StoredTurn {
  /** Kind and state of each step of the turn in progress. */
  steps: string[];
  /** Messages in the event log. */
  messages: number;
  /** Turns that are committed. */
  turns: number;
}

export interface OpenQuestion {
  id: string;
  kind: "input" | "approval";
  source: string;
}

/**
 * Reads a database on disk from outside, which does not wake the object as a request would. Reads a copy, because opening a
 * database after a crash repairs it and locks out the service meanwhile.
 */
function readDatabase<T>(file: string, copy: string, query: (db: DatabaseSync) => T): T {
  rmSync(`${copy}-wal`, { force: true });
  rmSync(`${copy}-shm`, { force: true });
  copyFileSync(file, copy);
  if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${copy}-wal`);
  const db = new DatabaseSync(copy);
  try {
    return query(db);
  } finally {
    db.close();
  }
}

/** The databases of the objects in a directory. */
function databasesIn(directory: string): string[] {
  let names: string[];
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names
    .filter((one) => one.endsWith(".sqlite") && one !== "metadata.sqlite")
    .map((name) => join(directory, name));
}

/** The directory as a tenant has stored it. */
export interface StoredDirectory {
  teams: string[];
  /** Id and status. */
  runs: string[];
  requests: string[];
}

/** The databases of a state directory that holds a single team. */
export class DiskView {
  readonly #state: string;
  readonly #copy: string;

  constructor(state: string) {
    this.#state = state;
    this.#copy = join(state, "copy.sqlite");
  }

  /** Changes when something was written. */
  version(): string {
    const file = this.#file();
    if (file === undefined) return "";
    return [file, `${file}-wal`]
      .filter((name) => existsSync(name))
      .map((name) => statSync(name, { bigint: true }))
      .map(({ size, mtimeNs }) => `${size}@${mtimeNs}`)
      .join(" ");
  }

  /** The latest run, or undefined when there is none (or no object yet). */
  latestRun(): StoredRun | undefined {
    return this.#read((db) => {
      if (!hasTable(db, "run")) return undefined;
      const row = db.prepare("select id, record from run order by seq desc limit 1").get();
      if (row === undefined) return undefined;
      const { status } = JSON.parse(String(row.record)) as { status: string };
      return { id: String(row.id), status };
    });
  }

  /** The turn in progress and what is committed; undefined without tables. */
  turn(): StoredTurn | undefined {
    return this.#read((db) => {
      if (!hasTable(db, "event")) return undefined;
      const count = (query: string): number => Number(db.prepare(query).get()?.count ?? 0);
      return {
        steps: (hasTable(db, "step")
          ? db.prepare("select kind, state from step order by key").all()
          : []
        ).map(({ kind, state }) => `${String(kind)} ${String(state)}`),
        messages: count("select count(*) as count from event where kind in ('message', 'quiet')"),
        turns: count("select count(distinct turn) as count from head where turn > 0"),
      };
    });
  }

  /** Open questions. */
  openQuestions(): OpenQuestion[] {
    return (
      this.#read((db) =>
        hasTable(db, "question")
          ? db
              .prepare("select question from question where answer is null order by created_at, id")
              .all()
              .map((row) => JSON.parse(String(row.question)) as OpenQuestion)
          : [],
      ) ?? []
    );
  }

  /** Schedules whose occurrence has not come yet. */
  schedulesLeft(): number {
    return (
      this.#read((db) => {
        const query = "select count(*) as count from schedule where next_at is not null";
        return hasTable(db, "schedule") ? Number(db.prepare(query).get()?.count) : 0;
      }) ?? 0
    );
  }

  /** Rows per table of the service. Those that come with their first row may be missing, but for `step`. */
  rowCounts(): Record<string, number> & { step: number } {
    const tables =
      "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'";
    const counts = this.#read((db) =>
      Object.fromEntries(
        db
          .prepare(tables)
          .all()
          .map(({ name }) => {
            const row = db.prepare(`select count(*) as count from "${String(name)}"`).get();
            return [String(name), Number(row?.count)];
          }),
      ),
    );
    return { step: 0, ...counts };
  }

  /** Whether the object's alarm is set. */
  alarmSet(): boolean {
    return (
      this.#read((db) => {
        if (!hasTable(db, "_cf_METADATA")) return false;
        const rows = db.prepare("select value from _cf_METADATA where value is not null");
        rows.setReadBigInts(true);
        return rows.all().length > 0;
      }) ?? false
    );
  }

  /** What the tenant has to list, as the team has stored it; undefined while something is left to be delivered. */
  truth(): StoredDirectory | undefined {
    return this.#read((db) => {
      const left = db.prepare("select 1 from outbox where entry is not null").all();
      if (left.length > 0) return undefined;
      const column = (query: string): string[] =>
        db
          .prepare(query)
          .all()
          .map(({ value }) => String(value));
      return {
        teams: column("select json_extract(value, '$.id') as value from meta where name = 'team'"),
        runs: column(
          `select id || ' ' || json_extract(record, '$.status') as value
             from (select id, record from run ${hasTable(db, "queue") ? "union all select id, record from queue" : ""})
             order by id`,
        ),
        requests: hasTable(db, "question")
          ? column("select id as value from question where answer is null order by id")
          : [],
      };
    });
  }

  /** What the tenant has stored. */
  listed(): StoredDirectory | undefined {
    for (const file of databasesIn(join(this.#state, TENANTS))) {
      const found = readDatabase(file, this.#copy, (db) => {
        if (!hasTable(db, "activity")) return undefined;
        if (db.prepare("select 1 from meta where name = 'tenant'").get() === undefined) {
          return undefined;
        }
        const column = (query: string): string[] =>
          db
            .prepare(query)
            .all()
            .map(({ value }) => String(value));
        return {
          teams: column("select team.id as value from team join activity using (id)"),
          runs: column("select id || ' ' || status as value from run order by id"),
          requests: column("select id as value from request order by id"),
        };
      });
      if (found) return found;
    }
    return undefined;
  }

  #read<T>(query: (db: DatabaseSync) => T): T | undefined {
    const file = this.#file();
    return file === undefined ? undefined : readDatabase(file, this.#copy, query);
  }

  #file(): string | undefined {
    return databasesIn(join(this.#state, TEAMS))[0];
  }
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return (
    db.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !==
    undefined
  );
}
