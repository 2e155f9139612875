import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const run = promisify(execFile);

function json(path: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, path), "utf8"));
}

async function bench(...args: string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [join(ROOT, "bench/main.ts"), ...args]);
  return stdout;
}

test("every section loads and has a place on the page", async () => {
  const sections = (await bench("--list")).trim().split("\n");
  const page = readFileSync(join(ROOT, "bench/results.md"), "utf8");
  const places = [...page.matchAll(/<!-- bench:([\w-]+) -->\n[^]+?\n<!-- \/bench:\1 -->/g)];
  expect(new Set(places.map(([, name]) => name))).toEqual(new Set(sections));
});

test("an unknown section is refused with the names of those that exist", async () => {
  await expect(bench("chats")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/No such section: chats\. There are .*\bchat\b/) as string,
  });
});

test("the peers are locked in exactly the versions that are named", () => {
  const { dependencies } = json("bench/peers/package.json") as {
    dependencies: Record<string, string>;
  };
  const { packages } = json("bench/peers/package-lock.json") as {
    packages: Record<string, { version?: string; dependencies?: Record<string, string> }>;
  };
  expect(packages[""]?.dependencies).toEqual(dependencies);
  for (const [name, version] of Object.entries(dependencies)) {
    expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
  }
});
