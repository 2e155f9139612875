import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Archive } from "#cli/backup/archive.ts";
import { makeBackup } from "#cli/backup/make-backup.ts";
import { FakeTenant, keyPlace, withKey } from "./support/fake-tenant.ts";

let directory: string;
let tenant: FakeTenant;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "troupe-backup-"));
  tenant = new FakeTenant();
  tenant.teams.set("desk", { versions: [withKey("a")], parts: {} });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** What the backup lacks, and the ids of its teams. */
async function made(): Promise<{ leftOut: string[]; teams: string[] }> {
  const { end } = await makeBackup(tenant.server(), directory, () => {});
  const { items } = await Archive.open(directory);
  const teams = items.filter(({ kind }) => kind === "team").map(({ id }) => id);
  return { leftOut: end.left_out, teams };
}

describe("a backup", () => {
  test("names a team that it lacks because a part of it was not found", async () => {
    tenant.refusals.set("GET /v1/teams/desk/notify", { status: 404 });
    expect(await made()).toEqual({ leftOut: ["team desk: Refused: not_found."], teams: [] });
  });

  test("is complete without a team that was deleted since it was listed", async () => {
    tenant.before = (request) => {
      if (request === "GET /v1/teams/desk") tenant.teams.clear();
    };
    expect(await made()).toEqual({ leftOut: [], teams: [] });
  });

  test("has the team without a file that was removed since it was listed", async () => {
    const files = [{ path: "gone.txt" }, { path: "here.txt" }];
    const parts = { files: { files, next_cursor: null }, "files/here.txt": { kept: true } };
    tenant.teams.set("desk", { versions: [withKey("a")], parts });
    expect(await made()).toEqual({ leftOut: [], teams: ["desk"] });
    const archive = await Archive.open(directory);
    const item = archive.items.find(({ kind }) => kind === "team");
    expect(await archive.json(item!, "team.json")).toMatchObject({
      files: [{ path: "here.txt", name: "file-1" }],
    });
  });

  test.each(["../outside", "/etc/passwd", "a/./b"])("refuses a file at %s", async (path) => {
    const parts = { files: { files: [{ path }], next_cursor: null } };
    tenant.teams.set("desk", { versions: [withKey("a")], parts });
    await expect(made()).rejects.toThrow("is not one within its workspace");
    expect(tenant.requests.at(-1)).toBe("GET /v1/teams/desk/files");
  });

  test("has a place for the secret of each version", async () => {
    tenant.teams.set("desk", { versions: [withKey("old"), withKey("new")], parts: {} });
    await made();
    const secrets: unknown = JSON.parse(readFileSync(join(directory, "secrets.json"), "utf8"));
    expect(secrets).toEqual({ [keyPlace("desk", 1)]: null, [keyPlace("desk", 2)]: null });
  });
});
