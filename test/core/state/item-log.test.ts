import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ItemLog } from "troupe";
import { type LogChanges } from "#core/state/item-log.ts";
import { casesOf } from "../../support/samples.ts";

/** What a host keeps: the items of every generation, never overwritten. */
class Store {
  readonly generations = new Map<number, number[]>();
  generation = 0;

  commit(changes: LogChanges<number> | undefined): void {
    if (changes === undefined) return;
    const items = this.generations.get(changes.generation) ?? [];
    expect(changes.start).toBe(items.length);
    this.generations.set(changes.generation, [...items, ...changes.items]);
    this.generation = changes.generation;
  }

  get items(): number[] {
    return this.generations.get(this.generation) ?? [];
  }

  restored(): ItemLog<number> {
    const { generation, items } = this;
    const log = new ItemLog<number>();
    log.restore({
      generation,
      length: items.length,
      read: (from, to) => (this.generations.get(generation) ?? []).slice(from, to),
    });
    return log;
  }
}

describe("an item log", () => {
  test("names the items that were added since it was marked", () => {
    const log = new ItemLog<string>();
    log.append("a", "b");
    expect(log.changes()).toEqual({ generation: 0, start: 0, items: ["a", "b"] });
    log.mark();
    expect(log.changes()).toBeUndefined();
    log.append("c");
    expect(log.changes()).toEqual({ generation: 0, start: 2, items: ["c"] });
  });

  test("starts a generation when it is cleared, unless there is nothing to clear", () => {
    const log = new ItemLog<string>();
    log.clear();
    expect(log.changes()).toBeUndefined();
    log.append("a");
    log.mark();
    log.clear();
    expect(log.changes()).toEqual({ generation: 1, start: 0, items: [] });
    log.append("b");
    expect(log.changes()).toEqual({ generation: 1, start: 0, items: ["b"] });
  });

  test("reads from its source only the requested items", () => {
    const reads: [number, number][] = [];
    const stored = Array.from({ length: 1000 }, (_, index) => index);
    const log = new ItemLog<number>();
    log.restore({
      generation: 3,
      length: stored.length,
      read: (from, to) => {
        reads.push([from, to]);
        return stored.slice(from, to);
      },
    });
    log.append(1000);
    expect(log.slice(-3)).toEqual([998, 999, 1000]);
    expect(log.slice(999)).toEqual([999, 1000]);
    expect(log.slice(990, 992)).toEqual([990, 991]);
    expect(reads).toEqual([
      [998, 1000],
      [990, 992],
    ]);
    expect(log.changes()).toEqual({ generation: 3, start: 1000, items: [1000] });
  });

  test("releases items that are not read, and loads them again", () => {
    const stored: number[] = [];
    const reads: [number, number][] = [];
    const log = new ItemLog<number>();
    log.restore({
      generation: 0,
      length: 0,
      read: (from, to) => {
        reads.push([from, to]);
        return stored.slice(from, to);
      },
    });
    for (let item = 0; item < 10; item++) {
      log.append(item);
      stored.push(item);
      log.mark();
    }
    log.slice(-2);
    log.releaseUnread();
    expect(log.slice(-2)).toEqual([8, 9]);
    expect(reads).toEqual([]);
    expect(log.slice(-4)).toEqual([6, 7, 8, 9]);
    expect(reads).toEqual([[6, 8]]);
    expect(log.slice()).toEqual(stored);
  });

  test.each([
    [undefined, undefined, [1, 2, 3, 4]],
    [1, 3, [2, 3]],
    [-2, undefined, [3, 4]],
    [0, -1, [1, 2, 3]],
    [3, 2, []],
    [9, 12, []],
    [-9, 2, [1, 2]],
  ])("slices as arrays do: %s, %s", (from, to, expected) => {
    const log = new ItemLog<number>();
    log.append(1, 2, 3, 4);
    expect(log.slice(from, to)).toEqual(expected);
  });

  test("equals a list after any changes, and the store can restore it", () => {
    const operation = fc.oneof(
      fc.record({ op: fc.constant("append" as const), n: fc.nat(4) }),
      fc.record({
        op: fc.constantFrom("clear", "commit", "rollback", "restart", "release" as const),
      }),
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), (operations) => {
        const store = new Store();
        let log = store.restored();
        let model: number[] = [];
        let next = 0;
        for (const { op, ...rest } of operations) {
          const n = "n" in rest ? rest.n : 0;
          switch (op) {
            case "append": {
              const items = Array.from({ length: n }, () => next++);
              log.append(...items);
              model.push(...items);
              break;
            }
            case "clear":
              log.clear();
              model = [];
              break;
            case "commit":
              store.commit(log.changes());
              log.mark();
              break;
            case "rollback":
              log.rollback();
              model = [...store.items];
              break;
            case "restart":
              log = store.restored();
              model = [...store.items];
              break;
            case "release":
              log.releaseUnread();
              break;
          }
          expect(log.length).toBe(model.length);
          expect(log.slice(-2)).toEqual(model.slice(-2));
        }
        expect(log.slice()).toEqual(model);
        store.commit(log.changes());
        expect(store.items).toEqual(model);
      }),
      { numRuns: casesOf(300) },
    );
  });
});
