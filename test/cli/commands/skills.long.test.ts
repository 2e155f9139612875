import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestWorker } from "../../support/worker.ts";
import { type Ended, jsonLines, troupe } from "../support/command.ts";

const folder = mkdtempSync(join(tmpdir(), "troupe-skills-"));
const LINE = /^(\w+) {2}version (\d+) {2}files: (\d+) {2}\d+ bytes {2}(.*)\n$/;

let worker: TestWorker;
let url: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  url = await worker.origin;
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await worker[Symbol.asyncDispose]();
});

function skills(...args: string[]): Promise<Ended> {
  return troupe(["skills", ...args], { url });
}

/** Writes the folder of a skill. */
function write(name: string, files: { readonly [path: string]: string }): string {
  const skill = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(skill, path, ".."), { recursive: true });
    writeFileSync(join(skill, path), text);
  }
  return skill;
}

function instructions(name: string, text = "Refund up to 50 euros."): string {
  return `---\nname: ${name}\ndescription: Decides about refunds.\n---\n${text}\n`;
}

describe("troupe skills", () => {
  test("adds, lists, shows and removes skills with their versions", async () => {
    expect((await skills("list")).stdout).toBe("");
    const path = write("refunds", {
      "SKILL.md": instructions("refunds"),
      "references/law.md": "Above 50 euros a human decides.",
      ".git/config": "is left out",
    });
    const added = await skills("add", path);
    expect(LINE.exec(added.stdout)?.slice(1)).toEqual([
      "refunds",
      "1",
      "2",
      "Decides about refunds.",
    ]);
    expect((await skills("add", path)).stdout).toBe(added.stdout);
    write("refunds", { "SKILL.md": instructions("refunds", "Refund up to 70 euros.") });
    expect(LINE.exec((await skills("add", path)).stdout)?.[2]).toBe("2");
    expect(jsonLines((await skills("list", "--json")).stdout)).toMatchObject([
      { name: "refunds", version: 2, file_count: 2 },
    ]);
    const shown = (await skills("show", "refunds")).stdout;
    expect(shown).toContain("\n  references/law.md  31 bytes\n");
    expect(shown).toContain("\nRefund up to 70 euros.");
    expect((await skills("show", "refunds", "--at", "1")).stdout).toContain("50 euros.");
    expect((await skills("rm", "refunds")).code).toBe(0);
    expect((await skills("list")).stdout).toBe("");
  });

  test("takes the name that SKILL.md has from --name", async () => {
    const path = write("folder-of-another-name", { "SKILL.md": instructions("greet") });
    expect((await skills("add", path)).stderr).toContain("greet");
    expect(LINE.exec((await skills("add", path, "--name", "greet")).stdout)?.[1]).toBe("greet");
  });

  test("explains what is wrong", async () => {
    const broken = write("broken", { "SKILL.md": instructions("Broken") });
    const linked = write("linked", { "SKILL.md": instructions("linked") });
    symlinkSync("/etc/hostname", join(linked, "host"));
    for (const [args, message] of [
      [["add", join(folder, "nothing")], "There is no folder"],
      [["add", write("empty", { "notes.md": "Notes." })], "has no SKILL.md"],
      [["add", linked], "host is a link, which a skill cannot have."],
      [["add", broken], "SKILL.md"],
      [["show", "unknown"], "skill"],
      [["show", "greet", "--at", "first"], "version"],
    ] as const) {
      const { code, stderr } = await skills(...args);
      expect(code, args.join(" ")).not.toBe(0);
      expect(stderr).toContain(message);
    }
  });
});
