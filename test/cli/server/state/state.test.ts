import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { unreadBindings } from "#cli/server/state/state.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "troupe-state-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

test("local data of bindings that this server does not read is named, with the option that writes it here", () => {
  const state = join(root, ".troupe/state");
  expect(unreadBindings(root, state)).toBeUndefined();
  for (const kind of ["d1", "kv", "cache"])
    mkdirSync(join(root, ".wrangler/state/v3", kind), { recursive: true });
  mkdirSync(join(state, "v3/kv"), { recursive: true });
  expect(unreadBindings(root, state)).toBe(
    "Local data of d1 is in .wrangler/state, which this server does not read. Add --persist-to .troupe/state to the commands of wrangler that write it.",
  );
});
