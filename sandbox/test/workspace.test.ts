import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  apply,
  difference,
  EMPTY_WORKSPACE,
  parentsOf,
  type StoredEntry,
  type Workspace,
} from "../sessions/workspace.ts";
import { pathProblem } from "../workspace-path.ts";

const paths = fc
  .array(fc.constantFrom("a", "b", "c"), { minLength: 1, maxLength: 3 })
  .map((names) => names.join("/"));
const entries: fc.Arbitrary<StoredEntry> = fc.oneof(
  fc.constant({ type: "directory" } as const),
  fc.record({ type: fc.constant("link" as const), target: fc.constantFrom("a", "..") }),
);
const changes = fc.record({
  set: fc.array(fc.tuple(paths, entries), { maxLength: 5 }).map((list) => new Map(list)),
  removed: fc.array(paths, { maxLength: 3 }),
});
const workspaces = fc
  .array(changes, { maxLength: 4 })
  .map((list) => list.reduce<Workspace>(apply, EMPTY_WORKSPACE));

test("an entry is always inside of directories, after any changes", () => {
  fc.assert(
    fc.property(workspaces, (workspace) => {
      for (const path of workspace.keys())
        for (const parent of parentsOf(path))
          expect(workspace.get(parent)).toEqual({ type: "directory" });
    }),
  );
});

test("the difference turns one workspace into the other, and is empty between equals", () => {
  fc.assert(
    fc.property(workspaces, workspaces, (from, to) => {
      const made = apply(from, difference(from, to));
      expect(Object.fromEntries(made)).toEqual(Object.fromEntries(to));
      const { set, removed } = difference(made, to);
      expect([set.size, removed]).toEqual([0, []]);
    }),
  );
});

test("entries that were set exist, and entries that were removed and not set do not", () => {
  fc.assert(
    fc.property(workspaces, changes, (workspace, change) => {
      const result = apply(workspace, change);
      const above = new Set([...change.set.keys()].flatMap(parentsOf));
      for (const [path, entry] of change.set)
        expect(result.get(path)).toEqual(above.has(path) ? { type: "directory" } : entry);
      for (const path of change.removed)
        if (!change.set.has(path) && !above.has(path)) expect(result.has(path)).toBe(false);
    }),
  );
});

test.each(["a", "a/b.txt", "données ✓", "...", ".hidden", "a b", "x".repeat(255), "-rf", "~"])(
  "%j is a path",
  (path) => {
    expect(pathProblem(path)).toBeUndefined();
  },
);
