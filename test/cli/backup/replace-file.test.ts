import { mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { replaceFile } from "#cli/backup/replace-file.ts";

const folder = mkdtempSync(join(tmpdir(), "troupe-file-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a file is replaced whole: one that is open keeps its old content", async () => {
  const file = join(folder, "secrets.json");
  writeFileSync(file, "old");
  const before = openSync(file, "r");
  // An earlier attempt was interrupted.
  writeFileSync(`${file}.tmp`, "a part of something long");
  await replaceFile(file, "new");
  expect(readFileSync(before, "utf8")).toBe("old");
  expect(readFileSync(file, "utf8")).toBe("new");
});

test("a new file has the mode that it was given", async () => {
  const file = join(folder, "private.json");
  await replaceFile(file, "{}", 0o600);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});
