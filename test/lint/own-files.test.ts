import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OWN_CODE, OWN_FILES } from "../../scripts/check/own-files.mjs";
import { ROOT } from "../support/npm-start.ts";
import { snippets } from "../support/pages.ts";

/** A clone in which a user followed the README and tried a few things. */
let clone: string;

beforeAll(() => {
  clone = mkdtempSync(join(tmpdir(), "troupe-clone-"));
  symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
  const copied = OWN_FILES.filter((path) => path.includes("."));
  for (const path of [...copied, ".gitignore", "scripts/lint"]) {
    cpSync(join(ROOT, path), join(clone, path), { recursive: true });
  }
  // Which files are linted does not depend on types, and checking those takes most of the time.
  const rules = readFileSync(join(ROOT, ".oxlintrc.json"), "utf8");
  writeFileSync(
    join(clone, ".oxlintrc.json"),
    rules.replace('"typeAware": true', '"typeAware": false'),
  );
  for (const folder of OWN_FILES.filter((path) => !path.includes(".") && path !== "scripts")) {
    mkdirSync(join(clone, folder));
    writeFileSync(join(clone, folder, "ours.ts"), "export const ours = 1;\n");
  }
  for (const folder of ["my-team", "another"]) mkdirSync(join(clone, folder));
  const untidy = "export var  a = 1\nconsole.log( a == 1 )\n";
  for (const path of ["my-team/worker.ts", "another/worker.ts", "try.ts"]) {
    writeFileSync(join(clone, path), untidy);
  }
  for (const path of ["team.json", "state.json"]) writeFileSync(join(clone, path), '{"a":[1,\n2]}');
});

afterAll(() => rmSync(clone, { recursive: true, force: true }));

async function passes(tool: string, ...args: string[]): Promise<boolean> {
  const program = join(ROOT, "node_modules/.bin", tool);
  return promisify(execFile)(program, args, { cwd: clone }).then(
    () => true,
    () => false,
  );
}

test("generated and vendored files are neither formatted nor linted", async () => {
  expect(await passes("oxfmt", "--check", ...OWN_FILES)).toBe(true);
  expect(await passes("oxlint", ...OWN_CODE)).toBe(true);
});

test("the project's own files are formatted and linted", async () => {
  writeFileSync(join(clone, "src/untidy.ts"), "export var  a = 1\n");
  expect(await passes("oxfmt", "--check", ...OWN_FILES)).toBe(false);
  expect(await passes("oxlint", ...OWN_CODE)).toBe(false);
});

test("the project's own files are all that the projects of TypeScript check, and exist", () => {
  const folders = ["src", "core", "node", "workerd"].flatMap((name) => {
    const text = readFileSync(join(ROOT, `tsconfig.${name}.json`), "utf8");
    const include = /"include": \[([^\]]*)\]/.exec(text)?.[1] ?? "";
    return [...include.matchAll(/"([^"]+)"/g)].map(([, path = ""]) => path.split("/")[0]);
  });
  const apart = folders.filter((folder) => !OWN_CODE.includes(folder ?? "") && folder !== "**");
  expect(apart).toEqual([]);
  expect(OWN_FILES.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test("git ignores the files that the pages have their readers create", () => {
  const ignored = readFileSync(join(ROOT, ".gitignore"), "utf8").split("\n");
  const created = snippets
    .map(({ info }) => info)
    .filter((info) => /^[\w-]+(\/\S+)?\.\w+$/.test(info));
  expect(created).toContain("team.json");
  for (const path of created) {
    const [folder] = path.split("/");
    expect(ignored).toContain(path.includes("/") ? `/${folder}/` : `/${path}`);
  }
});
