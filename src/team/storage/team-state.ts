import { StateError } from "../../core/errors.ts";
import type { LogIndex, LogSource } from "../../core/state/item-log.ts";
import { type StateChanges, StateTree } from "../../core/state/state-tree.ts";
import type { Stateful } from "../../core/state/stateful.ts";
import type { TextStore } from "../../sqlite/text-store.ts";
import type { Database } from "../../sqlite/database.ts";
import { type Commit, type CommitStore, readSnapshot, type Snapshot } from "./log/commits.ts";
import type { EventLog } from "./log/event-log.ts";
import { type Appended, MakerDataInLogs } from "./log/maker-data-in-logs.ts";
import { dropIndexes, SearchIndex } from "./tables/search-index.ts";
import type { EventReferences } from "./log/event-references.ts";

/**
 * A conversation may outgrow the 128 MB of an object: after this many commits the unread part of the logs is dropped
 * from memory.
 */
const COMMITS_PER_RELEASE = 256;

/** Data stored together with the state. */
export interface TeamStateStores {
  db: Database;
  texts: TextStore;
  log: EventLog;
  commits: CommitStore;
}

/**
 * Keeps the state of a team in memory and its rows in step. `continued` loads the stored state; `replaced` starts from the
 * component's initial state, and the first commit hides the stored state that was not taken over by then.
 */
export class TeamState {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #commits: CommitStore;
  readonly #logs: LogStore;
  readonly #tree: StateTree;
  readonly #groups = new Map<string, Snapshot>();
  /** Indexes of the logs that can be searched. */
  readonly #indexes = new Map<string, SearchIndex>();
  /** Until the first commit. */
  #replaces: boolean;
  #written = 0;
  /** The changes of the commit that is being written. */
  #changes: StateChanges | undefined;

  constructor(
    { db, texts, log, commits }: TeamStateStores,
    root: Stateful,
    start: "continued" | "replaced",
  ) {
    this.#db = db;
    this.#texts = texts;
    this.#commits = commits;
    this.#logs = new LogStore(db, texts, log.references);
    this.#tree = new StateTree(root);
    this.#replaces = start === "replaced";
    this.#tree.restore({
      head: (path) => (this.#replaces ? undefined : this.#group(groupOf(path))[path]),
      log: (path, index) =>
        index === undefined ? this.#source(path) : this.#searchable(path, index),
    });
  }

  /** @throws StateError when the component has no place for part of the stored state */
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

  /**
   * Writes the changes since the last commit. Call {@link committed} after the transaction.
   *
   * @param keepSteps the text of the steps of the turn, given what the turn appends to logs
   */
  write(commit: Commit, keepSteps?: (inLogs: MakerDataInLogs) => string | undefined): void {
    this.#changes = this.#tree.changes();
    const { heads, logs } = this.#changes;
    const steps = keepSteps?.(this.#logs.makerData(logs));
    const changed = new Set<string>([""]);
    if (this.#replaces) this.#hideStored(changed, new Set(logs.map(({ path }) => path)), commit);
    for (const { path, value } of heads) {
      const group = groupOf(path);
      this.#group(group)[path] = value;
      changed.add(group);
    }
    const snapshots = new Map([...changed].map((group) => [group, this.#group(group)]));
    this.#commits.write(commit, snapshots, steps);
    for (const { path, generation, start, items } of logs) {
      this.#logs.write(path, generation, start, items, commit.turn);
    }
    // Last: a table created in a transaction that then fails would break the whole object.
    for (const { path } of logs) this.#indexes.get(path)?.follow(this.#logs.last(path));
  }

  committed(): void {
    this.#replaces = false;
    this.#tree.mark(this.#changes);
    if (++this.#written % COMMITS_PER_RELEASE === 0) this.#tree.releaseUnread();
  }

  /**
   * Hides the rows of the previous component behind empty snapshots and generations. Logs that were taken over continue
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
      search: (query, changes, visit) => {
        const stored = this.#logs.last(path);
        index.follow(stored);
        if (changes === undefined) {
          index.search(stored, query, visit);
          return;
        }
        const { generation, start, items } = changes;
        // The store has moved on: the caller was superseded, and its result is not used.
        if (generation !== stored.generation || start !== stored.length) return;
        const read = (from: number, to: number): unknown[] => items.slice(from - start, to - start);
        index.searchOnce({ generation, length: start + items.length, read }, query, visit);
      },
    };
  }
}

/** Gives a team that was just built the state that it had after a turn. Nothing is written from there on. */
export function restorePast(
  { db, texts, log }: TeamStateStores,
  root: Stateful,
  turn: number,
): void {
  const logs = new LogStore(db, texts, log.references);
  const groups = new Map<string, Snapshot>();
  new StateTree(root).restore({
    head: (path) => {
      const group = groupOf(path);
      const values =
        groups.get(group) ?? readSnapshot<{ heads: Snapshot }>(db, texts, group, turn)?.heads ?? {};
      groups.set(group, values);
      return values[path];
    },
    log: (path) => logs.at(path, turn),
  });
}

/** The root's participant that a path belongs to; "" for the team's own state. */
function groupOf(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? path : path.slice(0, end);
}

interface LogRow extends Record<string, string | number | null> {
  generation: number;
  start: number;
  count: number;
  body: string | null;
}

/** The position before the marker of an empty generation, which is at -1. */
const BEFORE_ALL = -2;

/** The items of one row, and the position of the first. */
interface StoredItems {
  start: number;
  items: readonly unknown[];
}

/** The rows of logs: the items that each turn appended, never overwritten. */
export class LogStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #references: EventReferences;

  constructor(db: Database, texts: TextStore, references: EventReferences) {
    this.#db = db;
    this.#texts = texts;
    this.#references = references;
  }

  /** The paths of all stored logs. */
  get paths(): string[] {
    return this.#db.all<{ path: string }>("select distinct path from log").map(({ path }) => path);
  }

  /** The current generation, -1 for a log without rows. */
  lastGeneration(path: string): number {
    return this.#lastRow(path)?.generation ?? -1;
  }

  /** The stored items of a log's current generation. */
  last(path: string): LogSource<unknown> {
    const last = this.#lastRow(path);
    const length = last === undefined ? 0 : last.start + last.count;
    return this.source(path, last?.generation ?? 0, length);
  }

  /** The items of a log as of a turn; undefined for one that had no rows. */
  at(path: string, turn: number): LogSource<unknown> | undefined {
    const generation = this.generationAt(path, turn);
    if (generation === undefined) return undefined;
    const row = this.#db.first<LogRow>(
      `select start, count from log where path = ? and generation = ? and turn <= ? order by start desc limit 1`,
      path,
      generation,
      turn,
    );
    return this.source(path, generation, row === undefined ? 0 : row.start + row.count);
  }

  /** The generation of a log that was in force at a turn; undefined before its first. */
  generationAt(path: string, turn: number): number | undefined {
    let before = Number.MAX_SAFE_INTEGER;
    for (;;) {
      const found = this.#db.first<{ generation: number }>(
        "select generation from log where path = ? and generation < ? order by generation desc limit 1",
        path,
        before,
      );
      if (found === undefined) return undefined;
      const { generation } = found;
      const first = this.#db.first<{ turn: number }>(
        "select turn from log where path = ? and generation = ? order by start limit 1",
        path,
        generation,
      );
      if (first !== undefined && first.turn <= turn) return generation;
      before = generation;
    }
  }

  /** The items of one generation. Reading them one by one reads each row once. */
  source(path: string, generation: number, length: number): LogSource<unknown> {
    let last: StoredItems | undefined;
    const read = (from: number, to: number): unknown[] => {
      const known = last && from >= last.start && to <= last.start + last.items.length;
      const rows = known ? [last as StoredItems] : this.#rows(path, generation, from, to);
      const found: unknown[] = [];
      for (const row of rows) {
        const { start, items } = row;
        for (const item of items.slice(Math.max(0, from - start), to - start)) found.push(item);
        last = row;
      }
      return found;
    };
    return { generation, length, read };
  }

  /** @param appended what a turn appends */
  makerData(appended?: readonly Appended[]): MakerDataInLogs {
    return new MakerDataInLogs((path, generation, start) => {
      const [row] = [...this.#rows(path, generation, start, start + 1)];
      return row?.items ?? [];
    }, appended);
  }

  /** The items of the current generation, row by row. */
  *rows(path: string): Iterable<readonly unknown[]> {
    const { generation, length } = this.last(path);
    for (const { items } of this.#rows(path, generation, 0, length)) yield items;
  }

  write(
    path: string,
    generation: number,
    start: number,
    items: readonly unknown[],
    turn: number,
  ): void {
    // The row of an empty generation is at -1, so that it does not collide with that of its first item.
    const [first, count] = items.length === 0 ? [-1, 1] : [start, items.length];
    this.#db.write(
      "insert into log values (?, ?, ?, ?, ?, ?)",
      path,
      generation,
      first,
      count,
      turn,
      this.#texts.store(logOwner(path, generation, first), this.#references.write(items)),
    );
  }

  #lastRow(path: string): LogRow | undefined {
    return this.#db.first<LogRow>(
      `select generation, start, count, body from log where path = ?
         order by generation desc, start desc limit 1`,
      path,
    );
  }

  *#rows(path: string, generation: number, from: number, to: number): Iterable<StoredItems> {
    for (const { start, body } of this.#db.each<LogRow>(
      `select generation, start, count, body from log where path = ?1 and generation = ?2 and start > ?5 and start < ?4
         and start >= (select max(start) from log where path = ?1 and generation = ?2 and start <= ?3)
         order by start`,
      [path, generation, from, to, BEFORE_ALL],
      (row) => [path, generation, from, to, row.start],
    )) {
      const text = this.#texts.load(logOwner(path, generation, start), body);
      yield { start, items: this.#references.read(text) };
    }
  }
}

export function logOwner(path: string, generation: number, start: number): string {
  return `log:${path}:${generation}:${start}`;
}
