import { copyFileSync, existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Directory of the namespace in the state directory: its unique key in the configuration. */
const NAMESPACE = "troupe";

/** A run as stored, the part that matters here. */
export interface StoredRun {
  id: string;
  status: string;
}

export interface OpenQuestion {
  id: string;
  kind: "input" | "approval";
  source: string;
}

/**
 * Reads the database on disk from outside, which does not wake the object as a request would. Reads a copy, because
 * opening a database after a crash repairs it and locks out the service meanwhile. For state directories that hold a
 * single object.
 */
export class DiskView {
  readonly #directory: string;
  readonly #copy: string;

  constructor(state: string) {
    this.#directory = join(state, NAMESPACE);
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

  /** Rows per table of the service. */
  rowCounts(): Record<string, number> {
    return (
      this.#read((db) =>
        Object.fromEntries(
          db
            .prepare(
              "select name from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\'",
            )
            .all()
            .map(({ name }) => {
              const row = db.prepare(`select count(*) as count from "${String(name)}"`).get();
              return [String(name), Number(row?.count)];
            }),
        ),
      ) ?? {}
    );
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

  #read<T>(query: (db: DatabaseSync) => T): T | undefined {
    const file = this.#file();
    if (file === undefined) return undefined;
    rmSync(`${this.#copy}-wal`, { force: true });
    rmSync(`${this.#copy}-shm`, { force: true });
    copyFileSync(file, this.#copy);
    if (existsSync(`${file}-wal`)) copyFileSync(`${file}-wal`, `${this.#copy}-wal`);
    const db = new DatabaseSync(this.#copy);
    try {
      return query(db);
    } finally {
      db.close();
    }
  }

  #file(): string | undefined {
    let names: string[];
    try {
      names = readdirSync(this.#directory);
    } catch {
      return undefined;
    }
    const name = names.find((one) => one.endsWith(".sqlite") && one !== "metadata.sqlite");
    return name === undefined ? undefined : join(this.#directory, name);
  }
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return (
    db.prepare("select 1 from sqlite_master where type = 'table' and name = ?").get(name) !==
    undefined
  );
}
