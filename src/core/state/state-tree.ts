import { StateError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ItemLog, LogChanges, LogIndex, LogSource } from "./item-log.ts";
import { type Stateful, within } from "./stateful.ts";

/** A changed head: `path` is made of the keys on the way down, joined with `/`. */
export interface HeadChange {
  path: string;
  value: Json;
}

export interface StateChanges {
  heads: HeadChange[];
  logs: ({ path: string } & LogChanges<unknown>)[];
}

/** The stored state of a tree. */
export interface StoredState {
  /** The head at `path`, or undefined if none was stored yet. */
  head(path: string): Json | undefined;
  /** @param index the full-text index of a searchable log */
  log(path: string, index: LogIndex<unknown> | undefined): LogSource<unknown> | undefined;
}

interface Head {
  path: string;
  save(): Json;
  load(value: Json): void;
  marked: string;
}

/**
 * Tracks the state below `root`: reports changes since the last mark, rolls back to it, or restores what a host has
 * stored. The component fixes the shape of the tree.
 */
export class StateTree {
  readonly #heads: Head[] = [];
  readonly #logs: { path: string; log: ItemLog<unknown> }[] = [];

  constructor(root: Stateful) {
    this.#visit(root, "");
    this.mark();
  }

  /** The positions of heads and logs. */
  get paths(): ReadonlySet<string> {
    return new Set([...this.#heads, ...this.#logs].map(({ path }) => path));
  }

  /** The generation of each log, by its path. */
  get generations(): ReadonlyMap<string, number> {
    return new Map(this.#logs.map(({ path, log }) => [path, log.generation]));
  }

  /** Checks items that a host has from elsewhere. @throws StateError for a path that is not a log's, or wrong items */
  requireItems(path: string, items: readonly unknown[]): void {
    const found = this.#logs.find((one) => one.path === path);
    if (found === undefined) throw noPlaceFor(path);
    within(path, () => found.log.requireItems(items));
  }

  /** Checks the heads at some paths in the same way. */
  requireHeads(paths: readonly string[]): void {
    const own = new Set(this.#heads.map(({ path }) => path));
    const strange = paths.find((path) => !own.has(path));
    if (strange !== undefined) throw noPlaceFor(strange);
  }

  changes(): StateChanges {
    const heads: HeadChange[] = [];
    for (const head of this.#heads) {
      const value = head.save();
      if (JSON.stringify(value) !== head.marked) heads.push({ path: head.path, value });
    }
    const logs: StateChanges["logs"] = [];
    for (const { path, log } of this.#logs) {
      const changes = log.changes();
      if (changes) logs.push({ path, ...changes });
    }
    return { heads, logs };
  }

  /** Marks changes as stored: those that {@link changes} has reported, or else all since the last mark. */
  mark({ heads, logs }: StateChanges = this.changes()): void {
    const values = new Map(heads.map(({ path, value }) => [path, value]));
    for (const head of this.#heads) {
      const value = values.get(head.path);
      if (value !== undefined) head.marked = JSON.stringify(value);
    }
    const changed = new Set(logs.map(({ path }) => path));
    for (const { path, log } of this.#logs) if (changed.has(path)) log.mark();
  }

  /** Drops stored log items from memory that are no longer read. */
  releaseUnread(): void {
    for (const { log } of this.#logs) log.releaseUnread();
  }

  /** Rolls back to the state at the last mark. */
  rollback(): void {
    for (const { log } of this.#logs) log.rollback();
    for (const head of this.#heads) {
      if (JSON.stringify(head.save()) !== head.marked) head.load(JSON.parse(head.marked) as Json);
    }
  }

  restore(stored: StoredState): void {
    for (const { path, log } of this.#logs) {
      const source = stored.log(path, log.index);
      if (source) log.restore(source);
    }
    for (const head of this.#heads) {
      const value = stored.head(head.path);
      if (value !== undefined) head.load(value);
    }
    this.mark();
  }

  #visit(node: Stateful, path: string): void {
    const parts = node.stateParts?.();
    if (parts === undefined) {
      this.#addHead(path, {
        save: () => node.saveState(),
        load: (value) => node.loadState(value as JsonObject),
      });
      return;
    }
    if (parts.head) this.#addHead(path, parts.head);
    for (const [name, log] of Object.entries(parts.logs ?? {})) {
      this.#logs.push({ path: join(path, name), log });
    }
    for (const [name, child] of Object.entries(parts.children ?? {})) {
      this.#visit(child, join(path, name));
    }
  }

  #addHead(path: string, head: { save(): Json; load(value: Json): void }): void {
    const save = (): Json => head.save();
    this.#heads.push({ path, save, load: (value) => head.load(value), marked: "" });
  }
}

function noPlaceFor(path: string): StateError {
  const message = "the component has no place for this state";
  return new StateError(`${path}: ${message}`, { issues: [{ path, message }] });
}

function join(path: string, name: string): string {
  const segment = encodeURIComponent(name);
  return path === "" ? segment : `${path}/${segment}`;
}
