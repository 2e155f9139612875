import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { hashOfReads } from "../../scripts/check/unchanged.mjs";

const directory = mkdtempSync(join(tmpdir(), "troupe-unchanged-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function write(file: string, text: string): void {
  writeFileSync(join(directory, file), text);
}

function hash(run = ["check"]): string | undefined {
  return hashOfReads({ run, reads: ["src", "settings*.json"] }, directory);
}

test("a stage has a hash of the files it reads and of its command, where git knows the files", () => {
  expect(hash()).toBeUndefined();
  execFileSync("git", ["init", "-q"], { cwd: directory });
  mkdirSync(join(directory, "src"));
  write(".gitignore", "*.log");
  write("src/a.ts", "1");
  const before = hash();
  expect(before).toMatch(/^[0-9a-f]{64}$/);

  write("page.md", "It reads no pages.");
  write("src/ignored.log", "It reads nothing that git ignores.");
  expect(hash()).toBe(before);
  expect(hash(["check", "--strictly"])).not.toBe(before);
  expect(hash(["check", join(tmpdir(), "troupe-check-Xy1z/report.json")])).toBe(before);

  write("src/a.ts", "2");
  expect(hash()).not.toBe(before);
  write("src/a.ts", "1");
  expect(hash()).toBe(before);
  write("src/b.ts", "");
  expect(hash()).not.toBe(before);
  rmSync(join(directory, "src/b.ts"));
  write("settings.one.json", "{}");
  expect(hash()).not.toBe(before);
});
