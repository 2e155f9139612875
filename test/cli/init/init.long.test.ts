import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROOT } from "../../support/npm-start.ts";
import { jsonLines, troupe } from "../support/command.ts";

const FILES = [
  ".dev.vars.example",
  ".github/workflows/ci.yml",
  ".gitignore",
  ".oxlintrc.json",
  "README.md",
  "package.json",
  "src/models.ts",
  "src/opening-hours.ts",
  "src/team.ts",
  "src/worker.ts",
  "test/team.test.ts",
  "tsconfig.json",
  "wrangler.toml",
];

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "troupe-init-"));
});

afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function filesIn(directory: string): string[] {
  return readdirSync(join(cwd, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(cwd, directory).length + 1))
    .toSorted();
}

interface Manifest {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

function manifestIn(directory: string): Manifest {
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as Manifest;
}

test("a project is named like its directory", async () => {
  const { code, stdout } = await troupe(["init", "town-2", "--no-install"], { cwd });
  expect(code).toBe(0);
  expect(stdout).toContain("  cd town-2\n  npm install\n  npm start\n");
  expect(filesIn("town-2")).toEqual(FILES);
  expect(manifestIn(join(cwd, "town-2")).name).toBe("town-2");
  const read = (path: string): string => readFileSync(join(cwd, "town-2", path), "utf8");
  expect(read("wrangler.toml")).toContain('name = "town-2"');
  expect(read("README.md")).toMatch(/^# town-2\n/);
});

test("a project has the versions that Troupe is tested with", async () => {
  await troupe(["init", "--no-install"], { cwd });
  const { dependencies, devDependencies } = manifestIn(join(cwd, "my-team"));
  const { troupe: version, ...others } = dependencies;
  expect(version).toBe(manifestIn(ROOT).version);
  for (const [name, made] of Object.entries({ ...others, ...devDependencies })) {
    // Troupe's own range may be wider than what is installed.
    expect(manifestIn(join(ROOT, "node_modules", name)).version, name).toBe(made);
  }
});

test("an empty directory is filled, also one under version control", async () => {
  mkdirSync(join(cwd, "new/.git"), { recursive: true });
  const { stdout } = await troupe(["init", "new", "--no-install", "--json"], { cwd });
  expect(jsonLines(stdout)).toEqual([{ name: "new", directory: "new", installed: false }]);
  expect(filesIn("new")).toEqual(FILES);
});

test("a directory with files is left alone", async () => {
  mkdirSync(join(cwd, "My Files"));
  writeFileSync(join(cwd, "My Files/notes.txt"), "mine");
  const { code, stderr } = await troupe(["init", "My Files", "--no-install", "--json"], { cwd });
  expect(code).toBe(2);
  expect(jsonLines(stderr)).toMatchObject([{ error: { code: "invalid_name" } }]);
  mkdirSync(join(cwd, "used"));
  writeFileSync(join(cwd, "used/notes.txt"), "mine");
  const refused = await troupe(["init", "used", "--no-install"], { cwd });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toBe(
    "error: used is not empty (notes.txt). A project needs a new or an empty directory.\n",
  );
  expect(filesIn("used")).toEqual(["notes.txt"]);
});

test.for([
  ["My Team", "my-team"],
  ["1", "my-team"],
  ["a".repeat(70), "a".repeat(63)],
  ["team_", "team"],
] as const)("the name %j is refused with an example", async ([name, example]) => {
  const { code, stderr } = await troupe(["init", name, "--no-install"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toContain(`for example "${example}"`);
  expect(readdirSync(cwd)).toEqual([]);
});

test("nothing remains when the project cannot be written", async () => {
  writeFileSync(join(cwd, "file"), "");
  const { code, stderr } = await troupe(["init", "file/team", "--no-install"], { cwd });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^error: file\/team cannot be used: /);
  expect(filesIn("")).toEqual(["file"]);
});

test("npm create troupe creates the same project", () => {
  const packages = join(cwd, "node_modules");
  cpSync(join(ROOT, "create-troupe"), join(packages, "create-troupe"), { recursive: true });
  symlinkSync(ROOT, join(packages, "troupe"));
  const { version, dependencies } = manifestIn(join(packages, "create-troupe"));
  expect({ version, dependencies }).toEqual({
    version: manifestIn(ROOT).version,
    dependencies: { troupe: manifestIn(ROOT).version },
  });
  const program = join(packages, "create-troupe/main.js");
  execFileSync(process.execPath, [program, "created", "--no-install"], { cwd });
  expect(filesIn("created")).toEqual(FILES);
});

test("a failed installation is reported with the command to repeat", async () => {
  const bin = join(cwd, "bin");
  mkdirSync(bin);
  writeFileSync(join(bin, "npm"), "#!/bin/sh\nexit 1\n");
  chmodSync(join(bin, "npm"), 0o755);
  const PATH = `${bin}:${process.env.PATH}`;
  const { code, stderr } = await troupe(["init", "team"], { cwd, env: { PATH } });
  expect(code).toBe(1);
  expect(stderr).toContain("Try again: cd team && npm install");
  expect(filesIn("team")).toEqual(FILES);
});
