import { expect, test } from "vitest";
import { metafile } from "../support/built-worker.ts";

const ENTRY = "src/service/worker.ts";

/** Modules that run when an isolate starts: those that are imported, and not only when something needs them. */
async function modulesOfTheStart(): Promise<string[]> {
  const { inputs } = await metafile();
  const found = new Set([ENTRY]);
  for (const module of found) {
    for (const { path, kind, external } of inputs[module]?.imports ?? []) {
      if (kind === "import-statement" && !external) found.add(path);
    }
  }
  return [...found];
}

test("a start of the Worker loads no schemas and no SDKs, which only requests need", async () => {
  const modules = await modulesOfTheStart();
  expect(modules).toContain("src/team/object/team-object.ts");
  const packages = modules
    .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
    .filter((name) => name !== undefined);
  // SHA-256 of @noble/hashes names large base64 inside transactions, where nothing can be awaited.
  expect([...new Set(packages)].toSorted()).toEqual([
    "@noble/hashes",
    "eventsource-parser",
    "hono",
  ]);
});
