import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as troupe from "troupe";
import { expect, test } from "vitest";
import { PROVIDERS } from "#components/provider-names.ts";
import { className } from "#core/component/providers.ts";
import { componentsFor } from "#core/registry/component-classes.ts";

type Classes = Parameters<typeof componentsFor<{ sandbox: undefined }>>[0];

const root = join(import.meta.dirname, "../..");
const sources = new Map(
  globSync("src/**/*.{ts,tsx}", { cwd: root }).map((file) => [
    file,
    readFileSync(join(root, file), "utf8"),
  ]),
);

/** The lists of classes: the files that the entry `troupe` exports as a whole. */
const lists = new Map(
  await Promise.all(
    Array.from(
      (sources.get("src/index.ts") ?? "").matchAll(/^export \* from "\.(.*)";$/gm),
      async ([, path]) =>
        [`src${path}`, (await import(join(root, `src${path}`))) as Classes] as const,
    ),
  ),
);
const listed = [...lists.values()].flatMap((classes) => Object.keys(classes));

/** The files that name a value in `export { ... } from`. A type of the client may have the name of a class. */
function exportersOf(name: string): string[] {
  const clause = new RegExp(`^export \\{[^}]*(?<!type )\\b${name}\\b[^}]*\\} from`, "m");
  return [...sources].filter(([, text]) => clause.test(text)).map(([file]) => file);
}

test("a class of a component is in one list, which alone exports it from its file", () => {
  for (const [list, classes] of lists) {
    for (const name of Object.keys(classes)) expect(exportersOf(name), name).toEqual([list]);
  }
});

test("the list of each folder is exported as a whole", () => {
  const files = globSync("src/components/*/classes.ts", { cwd: root });
  expect([...lists.keys()]).toEqual(expect.arrayContaining(files));
});

test("each class of the entry that has a definition is in a list", () => {
  const defined = Object.entries(troupe)
    .filter(([, value]) => typeof value === "function" && "component" in value)
    .map(([name]) => name);
  expect(defined.toSorted()).toEqual(listed.toSorted());
});

test("the groups of components follow from the lists, besides components without a class of their own", () => {
  const providers = [...lists.values()].flatMap((classes) =>
    componentsFor(classes, { sandbox: undefined }).map(({ provider }) => provider),
  );
  const others = new Set<string>(Object.values(PROVIDERS).flat());
  for (const provider of providers) expect(others.delete(provider), provider).toBe(true);
  // JSON of a FunctionTool loads a tool that the program registered, or Python, seldom an instance of the class.
  const withClass = [...others].filter((provider) => className(provider) in troupe);
  expect(withClass).toEqual(["autogen_core.tools.FunctionTool"]);
});
