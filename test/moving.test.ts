import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { snippet } from "./support/pages.ts";
import { testWith } from "./support/programs.ts";
import { TestWorker } from "./support/worker.ts";

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

testWith("curl", "jq")(
  "a team that AutoGen dumped continues by the commands of the page",
  async () => {
    const { component, steps } = JSON.parse(
      read("test/conformance/traces/graph_flow/state.json"),
    ) as { component: object; steps: { op: string; state?: object }[] };
    await using worker = await TestWorker.start();
    const folder = mkdtempSync(join(tmpdir(), "troupe-moving-"));
    try {
      writeFileSync(join(folder, "team.json"), JSON.stringify(component));
      const saved = steps.find(({ op }) => op === "save_state")?.state;
      writeFileSync(join(folder, "state.json"), JSON.stringify(saved));
      const page = snippet("Three steps", "sh", 0, "docs/moving-from-autogen.md");
      const commands = page.replaceAll("http://127.0.0.1:8787", await worker.origin);
      const { stdout } = await promisify(execFile)("sh", ["-ec", commands], { cwd: folder });
      expect(stdout.trimEnd().split("\n")).toEqual([
        '{"valid":true,"notes":[]}',
        "user: Continue.",
        // The run before the state was saved ended after "a" and "b".
        "c: c1",
        "d: d1",
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
