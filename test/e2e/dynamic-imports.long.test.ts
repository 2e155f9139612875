import { basename, join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { expect, onTestFinished, test } from "vitest";
import { builtWorker, compatibility, metafile } from "../support/built-worker.ts";
import { keepMiniflarePrivate } from "../support/private-miniflare.ts";

const ROOT = join(import.meta.dirname, "../..");
/** scripts/build.mjs leaves it empty: nothing calls what imports it. */
const LEFT_OUT = "unused:unused";

/** Files of the bundle that something imports dynamically, by the module that they were made of. */
async function dynamicImports(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const [path, { entryPoint }] of Object.entries((await metafile()).outputs)) {
    if (entryPoint === undefined || entryPoint === LEFT_OUT) continue;
    if (basename(path) !== "worker.js") found.set(entryPoint, `./parts/${basename(path)}`);
  }
  return found;
}

/** The names that each of the files exports in the runtime. */
async function exportsInBundle(
  files: ReadonlyMap<string, string>,
): Promise<Record<string, string[]>> {
  const { directory, modules } = await builtWorker();
  const { date, flags } = compatibility();
  const imports = [...files].map(
    ([source, file]) => `${JSON.stringify(source)}: () => import(${JSON.stringify(file)}),`,
  );
  const probe = `const imports = { ${imports.join("\n")} };
    export default {
      async fetch() {
        const names = {};
        for (const [source, load] of Object.entries(imports)) names[source] = Object.keys(await load());
        return Response.json(names);
      },
    };`;
  keepMiniflarePrivate();
  const worker = new Miniflare(
    convertV4MiniflareOptions({
      name: "probe",
      compatibilityDate: date,
      compatibilityFlags: flags,
      modulesRoot: directory,
      modules: [
        { type: "ESModule", path: join(directory, "probe.js"), contents: probe },
        ...modules.map((name) => ({
          type: name.endsWith(".bin") ? ("Data" as const) : ("ESModule" as const),
          path: join(directory, name),
        })),
      ],
    }),
  );
  onTestFinished(() => worker.dispose());
  const response = await fetch(await worker.ready);
  return (await response.json()) as Record<string, string[]>;
}

/** All sources are transformed for it. */

test("a module that is imported dynamically has all names of its source in the bundle", async () => {
  const files = await dynamicImports();
  const inBundle = await exportsInBundle(files);
  const inSource: Record<string, string[]> = {};
  for (const source of files.keys()) {
    const module = (await import(join(ROOT, source))) as Record<string, unknown>;
    inSource[source] = Object.keys(module);
  }
  expect(Object.keys(inBundle)).toContain("src/tenant/webhooks/signing.ts");
  const sorted = (names: Record<string, string[]>): Record<string, string[]> =>
    Object.fromEntries(Object.entries(names).map(([source, list]) => [source, list.toSorted()]));
  expect(sorted(inBundle)).toEqual(sorted(inSource));
});
