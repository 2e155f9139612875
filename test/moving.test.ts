import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** Rows of the tables that say where a class of AutoGen is. */
const rows = [
  ...read("docs/moving-from-autogen.md")
    .split("## Every class")[1]!
    .matchAll(/^\| (.+?) \| ?(.*?) ?\|$/gm),
].map(([, autogen = "", here = ""]) => [autogen, here] as const);

test("every class that the page lists is exported under that name", () => {
  const entry = read("src/index.ts");
  const whole = [...entry.matchAll(/^export \* from "\.\/(.+?)"/gm)].map(([, file = ""]) =>
    read(`src/${file}`),
  );
  const exported = new Set(
    [...[entry, ...whole].join("\n").matchAll(/^export(?: type)? \{([^}]*)\}/gm)].flatMap(
      ([, names = ""]) => names.split(",").map((name) => name.replace(/^\s*type /, "").trim()),
    ),
  );
  const promised = rows.flatMap(([autogen, here]) =>
    [...(here === "" ? autogen : here).matchAll(/`([A-Za-z0-9]+)`/g)].map(([, name = ""]) => name),
  );
  expect(promised.length).toBeGreaterThan(80);
  const elsewhere = new Set(["AbortSignal", "answer", "run", "type"]);
  expect(promised.filter((name) => !exported.has(name) && !elsewhere.has(name))).toEqual([]);
});
