import { describe, expect, test } from "vitest";
import type { Json, JsonObject, StateParts, Stateful } from "troupe";
import { ItemLog } from "troupe";
import { type LogSource } from "#core/state/item-log.ts";
import { StateTree, type StoredState } from "#core/state/state-tree.ts";

/** A counter whose state is one small head. */
class Counter implements Stateful {
  count = 0;

  saveState(): JsonObject {
    return { count: this.count };
  }

  loadState(state: JsonObject): void {
    this.count = Number(state.count);
  }
}

/** A diary with a page number, entries and a counter below. */
class Diary implements Stateful {
  page = 0;
  readonly entries = new ItemLog<string>();
  readonly counter = new Counter();

  saveState(): JsonObject {
    return { page: this.page, entries: this.entries.slice(), counter: this.counter.saveState() };
  }

  loadState(): void {
    throw new Error("its parts are loaded one by one");
  }

  stateParts(): StateParts {
    return {
      head: {
        save: () => this.page,
        load: (value) => {
          this.page = value as number;
        },
      },
      logs: { entries: this.entries },
      children: { "the counter/1": this.counter },
    };
  }
}

class Stored implements StoredState {
  readonly heads = new Map<string, Json>();
  readonly logs = new Map<string, string[]>();

  take(tree: StateTree): void {
    const { heads, logs } = tree.changes();
    for (const { path, value } of heads) this.heads.set(path, structuredClone(value));
    for (const { path, start, items } of logs) {
      this.logs.set(path, [...(this.logs.get(path) ?? []).slice(0, start), ...(items as string[])]);
    }
    tree.mark();
  }

  head(path: string): Json | undefined {
    return this.heads.get(path);
  }

  log(path: string): LogSource<unknown> | undefined {
    const items = this.logs.get(path);
    return (
      items && { generation: 0, length: items.length, read: (from, to) => items.slice(from, to) }
    );
  }
}

describe("a state tree", () => {
  test("contains only changes, by path", () => {
    const diary = new Diary();
    const tree = new StateTree(diary);
    expect(tree.changes()).toEqual({ heads: [], logs: [] });
    diary.counter.count = 2;
    diary.entries.append("monday");
    expect(tree.changes()).toEqual({
      heads: [{ path: "the%20counter%2F1", value: { count: 2 } }],
      logs: [{ path: "entries", generation: 0, start: 0, items: ["monday"] }],
    });
    tree.mark();
    diary.page = 1;
    expect(tree.changes()).toEqual({ heads: [{ path: "", value: 1 }], logs: [] });
  });

  test("rolls back to the last mark", () => {
    const diary = new Diary();
    const tree = new StateTree(diary);
    diary.page = 1;
    diary.entries.append("monday");
    tree.mark();
    const before = diary.saveState();
    diary.page = 2;
    diary.entries.clear();
    diary.entries.append("tuesday");
    diary.counter.count = 5;
    tree.rollback();
    expect(diary.saveState()).toEqual(before);
    expect(tree.changes()).toEqual({ heads: [], logs: [] });
  });

  test("accepts the stored parts as saved, and keeps unsaved ones", () => {
    const stored = new Stored();
    const diary = new Diary();
    const tree = new StateTree(diary);
    diary.page = 7;
    diary.entries.append("monday", "tuesday");
    stored.take(tree);
    diary.entries.append("wednesday");
    diary.counter.count = 1;
    stored.take(tree);

    const copy = new Diary();
    const copyTree = new StateTree(copy);
    copyTree.restore(stored);
    expect(copy.saveState()).toEqual(diary.saveState());
    expect(copyTree.changes()).toEqual({ heads: [], logs: [] });

    const fresh = new Diary();
    new StateTree(fresh).restore(new Stored());
    expect(fresh.saveState()).toEqual(new Diary().saveState());
  });
});
