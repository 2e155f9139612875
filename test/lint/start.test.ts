import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const ENTRY = "src/worker.ts";

/** Modules that run when an isolate starts: those that are imported, and not only when something needs them. */
async function modulesOfTheStart(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: resolve(import.meta.dirname, "../.."),
    entryPoints: [ENTRY],
    bundle: true,
    splitting: true,
    format: "esm",
    outdir: "unused",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    metafile: true,
    write: false,
  });
  const found = new Set([ENTRY]);
  for (const module of found) {
    for (const { path, kind, external } of metafile.inputs[module]?.imports ?? []) {
      if (kind === "import-statement" && !external) found.add(path);
    }
  }
  return [...found];
}

test("a start of the Worker loads no schemas and no SDKs, which only requests need", async () => {
  const modules = await modulesOfTheStart();
  expect(modules).toContain("src/durable/object/team-object.ts");
  const packages = modules
    .map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1])
    .filter((name) => name !== undefined);
  expect([...new Set(packages)].toSorted()).toEqual(["eventsource-parser", "hono"]);
});
