import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { STORED_TABLES } from "#cli/backup/stored-tables.ts";
import { ROOT } from "../../support/npm-start.ts";

/** Which classes have the tables that a folder of `src` makes. */
const OWNERS = {
  team: ["TeamObject"],
  tenant: ["TenantObject"],
  memory: ["MemoryObject"],
  sqlite: ["TeamObject", "MemoryObject"],
} as const;

/** Statements that make a table, and tables that are made with their first row. `\${name}_code` belongs to an index. */
const MADE =
  /create (?:virtual )?table (?:if not exists )?(?:\$\{[^}]+\}(_\w+)|(?!if\b)([a-z]\w*))|new LazyTable\(\s*[\w.]+,\s*(?:`\$\{\w+\}(_\w+)`|"(\w+)")/g;

/** The names of tables in the source of a folder. */
function tablesOf(folder: string): Set<string> {
  const names = globSync(`src/${folder}/**/*.ts`, { cwd: ROOT }).flatMap((file) =>
    Array.from(
      readFileSync(join(ROOT, file), "utf8").matchAll(MADE),
      ([, suffix, name, lazySuffix, lazyName]) =>
        name ?? lazyName ?? `memory${suffix ?? lazySuffix ?? ""}`,
    ),
  );
  return new Set(names.filter((name) => !name.endsWith("_terms")));
}

test.for(Object.entries(OWNERS))(
  "the table of a backup has each table that src/%s makes as in or out",
  ([folder, owners]) => {
    const tables = tablesOf(folder);
    expect(tables.size).toBeGreaterThan(4);
    const unknown = owners.flatMap((owner) =>
      [...tables].filter((name) => !Object.hasOwn(STORED_TABLES[owner], name)),
    );
    expect(unknown).toEqual([]);
  },
);

test("the table of a backup has no table that nothing makes", () => {
  const made = new Set(Object.keys(OWNERS).flatMap((folder) => [...tablesOf(folder)]));
  const index = /^(memory|chunk)(_words(_2)?|_waiting|_space|_code|_gone)?$/;
  const stale = Object.values(STORED_TABLES)
    .flatMap((tables) => Object.keys(tables))
    .filter((name) => !made.has(name) && !index.test(name));
  expect(stale).toEqual([]);
});
