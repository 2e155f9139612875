import { StateError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import type { Moment } from "../core/run/turn-host.ts";
import type { RequestUsage } from "../core/models/llm-messages.ts";
import type { LogIndex, LogSource } from "../core/state/item-log.ts";
import { StateTree } from "../core/state/state-tree.ts";
import type { Stateful } from "../core/state/stateful.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";
import { dropIndexes, SearchIndex } from "./search-index.ts";

/** How far the team had come at a commit. Stored with the team's own head, so it costs no row. */
export interface Commit {
  /** Turns of the team's life, over all runs, resets and loads of state. */
  turn: number;
  /** Row of the run that made it, 0 for a reset or a loaded state. */
  run: number;
  /** The run's next turn. */
  next: number;
  time: Moment;
  /** The run's tokens so far. */
  usage: RequestUsage;
  /** The last event before the next turn's. */
  event: number;
  /** The last event before the conversation's: a reset or a loaded state began a new one. */
  since: number;
  /** Nothing has happened since a reset. */
  empty: boolean;
}

/** An object has 128 MB, and a conversation may be longer: every so often memory lets go of its beginning. */
const COMMITS_PER_RELEASE = 256;

type Heads = { [path: string]: Json };

interface LogRow extends Record<string, string | number | null> {
  generation: number;
  start: number;
  count: number;
  body: string | null;
}

/** The last commit, or undefined before the first. */
export function lastCommit(db: Database, bodies: Bodies): Commit | undefined {
  return commitAt(db, bodies, Number.MAX_SAFE_INTEGER);
}

/** The last commit up to a turn. */
export function commitAt(db: Database, bodies: Bodies, turn: number): Commit | undefined {
  return readHead<{ commit: Commit }>(db, bodies, "", turn)?.commit;
}

/** Makes the last commit, which came with a fork, one that no run of this team has made. */
export function disownLastCommit(db: Database, bodies: Bodies, turn: number, event: number): void {
  const head = readHead<{ commit: Commit; heads: Heads }>(db, bodies, "");
  if (head === undefined) return;
  const commit: Commit = {
    turn,
    run: 0,
    next: 0,
    time: { at: head.commit.time.at, ran: 0 },
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    event,
    since: 0,
    empty: head.commit.empty,
  };
  bodies.remove(headOwner("", turn));
  const body = bodies.store(headOwner("", turn), JSON.stringify({ ...head, commit }));
  db.write("update head set body = ? where path = '' and turn = ?", body, turn);
}

/** The last finished turn, 0 before the first. */
export function lastTurn(db: Database): number {
  return (
    db.first<{ turn: number }>("select turn from head where path = '' order by turn desc limit 1")
      ?.turn ?? 0
  );
}

/**
 * The state of one team object in memory, tied to its rows. `continued` takes over what is stored; `replaced` starts
 * from the component's initial state and hides from the next commit on what is stored and was not taken over by then.
 */
export class StoredState {
  readonly #db: Database;
  readonly #bodies: Bodies;
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
    const logs = this.#db.all<{ path: string }>("select distinct path from log");
    return [
      ...groups.flatMap(({ path }) => Object.keys(this.#group(path))),
      ...logs.map(({ path }) => path).filter((path) => this.#source(path).length > 0),
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
      this.#writeLog(path, generation, start, items, commit.turn);
    }
    // Last: a table made in a transaction that then fails would take the whole object with it.
    for (const { path } of logs) this.#indexes.get(path)?.follow(this.#stored(path));
  }

  committed(): void {
    this.#replaces = false;
    this.#tree.mark();
    if (++this.#commits % COMMITS_PER_RELEASE === 0) this.#tree.releaseUnread();
  }

  #writeLog(
    path: string,
    generation: number,
    start: number,
    items: readonly unknown[],
    turn: number,
  ): void {
    // A generation that is still empty has a row before its first item's, so that both can stand.
    const [first, count] = items.length === 0 ? [-1, 1] : [start, items.length];
    this.#db.write(
      "insert into log values (?, ?, ?, ?, ?, ?)",
      path,
      generation,
      first,
      count,
      turn,
      this.#bodies.store(logOwner(path, generation, first), JSON.stringify(items)),
    );
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
    for (const { path } of this.#db.all<{ path: string }>("select distinct path from log")) {
      const last = this.#lastGeneration(path);
      if (generations.get(path) === last) goOn.add(path);
      else if (!written.has(path)) this.#writeLog(path, last + 1, 0, [], turn);
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

  #lastGeneration(path: string): number {
    return this.#lastRow(path)?.generation ?? -1;
  }

  #lastRow(path: string): LogRow | undefined {
    return this.#db.first<LogRow>(
      `select generation, start, count, body from log where path = ?
         order by generation desc, start desc limit 1`,
      path,
    );
  }

  #source(path: string): LogSource<unknown> {
    if (this.#replaces) return this.#reader(path, this.#lastGeneration(path) + 1, 0);
    return this.#stored(path);
  }

  #stored(path: string): LogSource<unknown> {
    const last = this.#lastRow(path);
    return this.#reader(
      path,
      last?.generation ?? 0,
      last === undefined ? 0 : last.start + last.count,
    );
  }

  #searchable(path: string, settings: LogIndex<unknown>): LogSource<unknown> {
    const index = new SearchIndex(this.#db, path, settings);
    this.#indexes.set(path, index);
    return {
      ...this.#source(path),
      search: (terms, changes, visit) => {
        const stored = this.#stored(path);
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

  #reader(path: string, generation: number, length: number): LogSource<unknown> {
    return { generation, length, read: (from, to) => this.#read(path, generation, from, to) };
  }

  #read(path: string, generation: number, from: number, to: number): unknown[] {
    const items: unknown[] = [];
    for (const { start, body } of this.#db.each<LogRow>(
      `select generation, start, count, body from log where path = ?1 and generation = ?2 and start < ?4
         and start >= (select max(start) from log where path = ?1 and generation = ?2 and start <= ?3)
         order by start`,
      path,
      generation,
      from,
      to,
    )) {
      const text = this.#bodies.load(logOwner(path, generation, start), body);
      const row = JSON.parse(text) as unknown[];
      for (const item of row.slice(Math.max(0, from - start), to - start)) items.push(item);
    }
    return items;
  }
}

function readHead<T>(
  db: Database,
  bodies: Bodies,
  group: string,
  turn = Number.MAX_SAFE_INTEGER,
): T | undefined {
  const row = db.first<{ turn: number; body: string | null }>(
    "select turn, body from head where path = ? and turn <= ? order by turn desc limit 1",
    group,
    turn,
  );
  return row && (JSON.parse(bodies.load(headOwner(group, row.turn), row.body)) as T);
}

export function headOwner(group: string, turn: number): string {
  return `head:${group}:${turn}`;
}

export function logOwner(path: string, generation: number, start: number): string {
  return `log:${path}:${generation}:${start}`;
}

/** The root's direct participant a head belongs to; the team's own ones stand together. */
function groupOf(path: string): string {
  const end = path.indexOf("/");
  return end === -1 ? path : path.slice(0, end);
}
