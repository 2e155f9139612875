import { StateError } from "../../core/errors.ts";
import type { LogIndex, LogSource } from "../../core/state/item-log.ts";
import { StateTree } from "../../core/state/state-tree.ts";
import type { Stateful } from "../../core/state/stateful.ts";
import type { TextStore } from "./text-store.ts";
import type { Database } from "./database.ts";
import { type Commit } from "./commits.ts";
import { snapshotOwner, type Snapshot, readSnapshot } from "./snapshots.ts";
import type { EventLog } from "./event-log.ts";
import { LogStore } from "./log-store.ts";
import { dropIndexes, SearchIndex } from "./search-index.ts";

/** A conversation may outgrow the 128 MB of an object: every so many commits the unread part of the logs leaves memory. */
const COMMITS_PER_RELEASE = 256;

/** What the state is stored with. */
export interface TeamStateStores {
  db: Database;
  texts: TextStore;
  log: EventLog;
}

/**
 * Keeps the state of a team in memory and its rows in step. `continued` loads the stored state; `replaced` starts from the
 * component's initial state, and the first commit hides the stored state that was not taken over by then.
 */
export class TeamState {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #logs: LogStore;
  readonly #tree: StateTree;
  readonly #groups = new Map<string, Snapshot>();
  /** Indexes of the logs that can be searched. */
  readonly #indexes = new Map<string, SearchIndex>();
  /** Until the first commit. */
  #replaces: boolean;
  #commits = 0;

  constructor(
    { db, texts, log }: TeamStateStores,
    root: Stateful,
    start: "continued" | "replaced",
  ) {
    this.#db = db;
    this.#texts = texts;
    this.#logs = new LogStore(db, texts, log.references);
    this.#tree = new StateTree(root);
    this.#replaces = start === "replaced";
    this.#tree.restore({
      head: (path) => (this.#replaces ? undefined : this.#group(groupOf(path))[path]),
      log: (path, index) =>
        index === undefined ? this.#source(path) : this.#searchable(path, index),
    });
  }

  /** @throws StateError when the component has no place for some of the stored state */
  requireFit(): void {
    const { paths } = this.#tree;
    const strange = this.#storedPaths().filter((path) => !paths.has(path));
    if (strange.length === 0) return;
    const places = strange.map((path) => `"${path}"`).join(", ");
    throw new StateError(`the component has no place for the stored state of ${places}`);
  }

  #storedPaths(): string[] {
    const groups = this.#db.all<{ path: string }>("select distinct path from head");
    return [
      ...groups.flatMap(({ path }) => Object.keys(this.#group(path))),
      ...this.#logs.paths.filter((path) => this.#source(path).length > 0),
    ];
  }

  /** Writes the changes since the last commit. Call {@link committed} after the transaction. */
  write(commit: Commit): void {
    const { heads, logs } = this.#tree.changes();
    const changed = new Set<string>([""]);
    if (this.#replaces) this.#hideStored(changed, new Set(logs.map(({ path }) => path)), commit);
    for (const { path, value } of heads) {
      const group = groupOf(path);
      this.#group(group)[path] = value;
      changed.add(group);
    }
    for (const group of changed) {
      const values = this.#group(group);
      const body = group === "" ? { commit, heads: values } : { heads: values };
      this.#db.write(
        "insert into head values (?, ?, ?)",
        group,
        commit.turn,
        this.#texts.store(snapshotOwner(group, commit.turn), JSON.stringify(body)),
      );
    }
    for (const { path, generation, start, items } of logs) {
      this.#logs.write(path, generation, start, items, commit.turn);
    }
    // Last: a table created in a transaction that then fails would break the whole object.
    for (const { path } of logs) this.#indexes.get(path)?.follow(this.#logs.last(path));
  }

  committed(): void {
    this.#replaces = false;
    this.#tree.mark();
    if (++this.#commits % COMMITS_PER_RELEASE === 0) this.#tree.releaseUnread();
  }

  /**
   * Hides the rows of the component before behind empty snapshots and generations. Logs that were taken over continue
   * their generation.
   */
  #hideStored(changed: Set<string>, written: ReadonlySet<string>, { turn }: Commit): void {
    for (const { path } of this.#db.all<{ path: string }>("select distinct path from head")) {
      changed.add(path);
    }
    const { generations } = this.#tree;
    const goOn = new Set<string>();
    for (const path of this.#logs.paths) {
      const last = this.#logs.lastGeneration(path);
      if (generations.get(path) === last) goOn.add(path);
      else if (!written.has(path)) this.#logs.write(path, last + 1, 0, [], turn);
    }
    dropIndexes(this.#db, goOn);
  }

  /** The stored snapshot of a group; kept in memory, because each row holds the whole group. */
  #group(group: string): Snapshot {
    let values = this.#groups.get(group);
    if (values === undefined) {
      values = this.#replaces
        ? {}
        : (readSnapshot<{ heads: Snapshot }>(this.#db, this.#texts, group)?.heads ?? {});
      this.#groups.set(group, values);
    }
    return values;
  }

  #source(path: string): LogSource<unknown> {
    const logs = this.#logs;
    return this.#replaces ? logs.source(path, logs.lastGeneration(path) + 1, 0) : logs.last(path);
  }

  #searchable(path: string, settings: LogIndex<unknown>): LogSource<unknown> {
    const index = new SearchIndex(this.#db, path, settings);
    this.#indexes.set(path, index);
    return {
      ...this.#source(path),
      search: (terms, changes, visit) => {
        const stored = this.#logs.last(path);
        index.follow(stored);
        if (changes === undefined) {
          index.search(stored, terms, visit);
          return;
        }
        const { generation, start, items } = changes;
        // The store has moved on: the caller was superseded, and its result is not used.
        if (generation !== stored.generation || start !== stored.length) return;
        const read = (from: number, to: number): unknown[] => items.slice(from - start, to - start);
        index.searchOnce({ generation, length: start + items.length, read }, terms, visit);
      },
    };
  }
}

/** The root's participant that a path belongs to; "" for the team's own state. */
function groupOf(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? path : path.slice(0, end);
}
