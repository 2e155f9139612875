import { StateError } from "../../core/errors.ts";
import type { LogIndex, LogSource } from "../../core/state/item-log.ts";
import { StateTree } from "../../core/state/state-tree.ts";
import type { Stateful } from "../../core/state/stateful.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";
import { type Commit, headOwner, type Heads, readHead } from "./heads.ts";
import { LogStore } from "./log-store.ts";
import { dropIndexes, SearchIndex } from "./search-index.ts";

/** An object has 128 MB, and a conversation may be longer: every so often memory lets go of its beginning. */
const COMMITS_PER_RELEASE = 256;

/**
 * The state of one team object in memory, tied to its rows. `continued` takes over what is stored; `replaced` starts
 * from the component's initial state and hides from the next commit on what is stored and was not taken over by then.
 */
export class StoredState {
  readonly #db: Database;
  readonly #bodies: Bodies;
  readonly #logs: LogStore;
  readonly #tree: StateTree;
  readonly #groups = new Map<string, Heads>();
  /** Of the logs that can be searched. */
  readonly #indexes = new Map<string, SearchIndex>();
  /** Until the first commit. */
  #replaces: boolean;
  #commits = 0;

  constructor(db: Database, bodies: Bodies, root: Stateful, start: "continued" | "replaced") {
    this.#db = db;
    this.#bodies = bodies;
    this.#logs = new LogStore(db, bodies);
    this.#tree = new StateTree(root);
    this.#replaces = start === "replaced";
    this.#tree.restore({
      head: (path) => (this.#replaces ? undefined : this.#group(groupOf(path))[path]),
      log: (path, index) =>
        index === undefined ? this.#source(path) : this.#searchable(path, index),
    });
  }

  /** @throws StateError when something is stored that the component has no place for */
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

  /** Writes what changed since the last commit. Call {@link committed} once the transaction is through. */
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
        this.#bodies.store(headOwner(group, commit.turn), JSON.stringify(body)),
      );
    }
    for (const { path, generation, start, items } of logs) {
      this.#logs.write(path, generation, start, items, commit.turn);
    }
    // Last: a table made in a transaction that then fails would take the whole object with it.
    for (const { path } of logs) this.#indexes.get(path)?.follow(this.#logs.last(path));
  }

  committed(): void {
    this.#replaces = false;
    this.#tree.mark();
    if (++this.#commits % COMMITS_PER_RELEASE === 0) this.#tree.releaseUnread();
  }

  /**
   * Older rows must not be taken for this component's: empty heads and generations come after them. Logs that were taken
   * over go on in their generation.
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

  /** A group's values as last stored; memory keeps them, since a row holds the whole group. */
  #group(group: string): Heads {
    let values = this.#groups.get(group);
    if (values === undefined) {
      values = this.#replaces
        ? {}
        : (readHead<{ heads: Heads }>(this.#db, this.#bodies, group)?.heads ?? {});
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
        // Others have gone on: whoever asks was superseded, and nothing comes of what is found.
        if (generation !== stored.generation || start !== stored.length) return;
        const read = (from: number, to: number): unknown[] => items.slice(from - start, to - start);
        index.searchOnce({ generation, length: start + items.length, read }, terms, visit);
      },
    };
  }
}

/** The root's direct participant a head belongs to; the team's own ones stand together. */
function groupOf(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? path : path.slice(0, end);
}
