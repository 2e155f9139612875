import type { ComponentModel } from "../../../core/component/component-model.ts";
import { MOST_VERSIONS } from "../../../contract/constants.ts";
import type { TeamVersion, VersionChanges } from "../../../contract/team/version.ts";
import type { Database } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import type { MetaStore } from "./meta-store.ts";
import { VERSION_TABLE } from "./migrations.ts";
import { componentKey, type TeamStore } from "./team-store.ts";

type Row = Pick<TeamVersion, "created_at" | "label" | "note"> & {
  n: number;
  /** The turn with which it became the team's component, and that with which another one did; null for the present one. */
  turn: number;
  until: number | null;
  author: string | null;
};

/** Bound to the last version that is not one of the latest. */
const LISTED = "(n > ? or label is not null)";

/**
 * The versions of a team's component. A team whose component was never changed has no row: its record says when it was made. The
 * components of earlier versions are values of the table `meta`, named by the turn with which the next one began.
 */
export class VersionStore {
  readonly #db: Database;
  readonly #meta: MetaStore;
  readonly #team: TeamStore;
  readonly #table: LazyTable;

  constructor(db: Database, meta: MetaStore, team: TeamStore) {
    this.#db = db;
    this.#meta = meta;
    this.#team = team;
    this.#table = new LazyTable(db, "version", VERSION_TABLE);
  }

  /** Must be called inside the transaction that stores the turn. @param turn the first one of the new component */
  replace(
    component: ComponentModel,
    turn: number,
    { by, note }: Pick<TeamVersion, "by" | "note">,
  ): void {
    this.#noteCurrent();
    const n = this.#current;
    this.#meta.write(replacedAt(turn), this.#team.component);
    this.#db.write("update version set until = ? where n = ?", turn, n);
    this.#db.write(
      "insert into version (n, turn, created_at, author, note) values (?, ?, ?, ?, ?)",
      n + 1,
      turn,
      new Date().toISOString(),
      by,
      note,
    );
    this.#team.replaceComponent(component);
    this.#prune();
  }

  /** The component in use at a turn; undefined if its version is not kept any more. */
  at(turn: number): ComponentModel | undefined {
    const [row] = this.#rows("turn <= ? and (until is null or until > ?) limit 1", turn, turn);
    if (row !== undefined) return this.#componentOf(row);
    return this.#isUnchanged ? this.#team.component : undefined;
  }

  get(n: number): TeamVersion | undefined {
    const row = this.#listed(n);
    return row && this.#shown(row);
  }

  /** The component of a version, its secrets sealed. */
  component(n: number): ComponentModel | undefined {
    const row = this.#listed(n);
    return row && this.#componentOf(row);
  }

  /** Versions before one, newest first. */
  before(n: number, limit: number): TeamVersion[] {
    const rows = this.#rows(
      `n < ? and ${LISTED} order by n desc limit ?`,
      n,
      this.#current - MOST_VERSIONS,
      limit,
    );
    if (this.#current < n && this.#isUnchanged) rows.push(this.#unchanged);
    return rows.map((row) => this.#shown(row));
  }

  /** Must be called inside a transaction. A label is taken from the version that has it. */
  change(n: number, { label, note }: VersionChanges): TeamVersion | undefined {
    if (this.#listed(n) === undefined) return undefined;
    this.#noteCurrent();
    if (label !== undefined) {
      this.#db.write("update version set label = null where label = ?", label);
      this.#db.write("update version set label = ? where n = ?", label, n);
    }
    if (note !== undefined)
      this.#db.write("update version set note = ? where n = ?", note || null, n);
    const [changed] = this.#rows("n = ?", n);
    this.#prune();
    return changed && this.#shown(changed);
  }

  get #current(): number {
    return this.#team.record.component_version;
  }

  get #isUnchanged(): boolean {
    return this.#rows("until is null").length === 0;
  }

  /** The row of a component that was never replaced. */
  get #unchanged(): Row {
    const { created_at, by = null } = this.#team.record;
    return {
      n: this.#current,
      turn: 0,
      until: null,
      created_at,
      author: by,
      label: null,
      note: null,
    };
  }

  #shown({ n, created_at, author: by, label, note }: Row): TeamVersion {
    return { component_version: n, created_at, by, label, note, current: n === this.#current };
  }

  #listed(n: number): Row | undefined {
    if (n === this.#current && this.#isUnchanged) return this.#unchanged;
    return this.#rows(`n = ? and ${LISTED}`, n, this.#current - MOST_VERSIONS)[0];
  }

  #componentOf({ until }: Row): ComponentModel | undefined {
    return until === null ? this.#team.component : this.#meta.read(replacedAt(until));
  }

  #rows(condition: string, ...values: number[]): Row[] {
    if (!this.#table.exists) return [];
    return this.#db.all<Row>(`select * from version where ${condition}`, ...values);
  }

  #noteCurrent(): void {
    this.#table.create();
    const { n, turn, created_at, author } = this.#unchanged;
    this.#db.write(
      "insert or ignore into version (n, turn, created_at, author) values (?, ?, ?, ?)",
      n,
      turn,
      created_at,
      author,
    );
  }

  /** Erases versions that are not listed any more, unless a run ran with them: forks at its turns need their components. */
  #prune(): void {
    const gone = this.#rows(
      "n <= ? and label is null and until = turn + 1",
      this.#current - MOST_VERSIONS,
    );
    for (const { n, until } of gone) {
      if (until !== null) this.#meta.remove(replacedAt(until));
      this.#db.write("delete from version where n = ?", n);
    }
  }
}

function replacedAt(turn: number): ReturnType<typeof componentKey> {
  return componentKey(`component:${turn}`);
}
