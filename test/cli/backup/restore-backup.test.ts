import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeBackup } from "#cli/backup/make-backup.ts";
import { restoreBackup } from "#cli/backup/restore-backup.ts";
import {
  FAKE_SECRETS_KEY,
  FakeTenant,
  keyOfVersion,
  keyPlace,
  withKey,
} from "./support/fake-tenant.ts";

const RECEIVER = { kind: "webhook", url: "https://hooks.example.com/", id: "r1" };

let directory: string;
let source: FakeTenant;
let target: FakeTenant;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "troupe-restore-"));
  source = new FakeTenant();
  target = new FakeTenant();
  source.teams.set("desk", {
    versions: [withKey("old"), withKey("new")],
    parts: { notify: { notify: [RECEIVER] } },
  });
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A backup whose secrets are filled in. */
async function backUp(): Promise<void> {
  await makeBackup(source.server(), directory, () => {});
  fill({ [keyPlace("desk", 1)]: "old", [keyPlace("desk", 2)]: "new" });
}

function sealedBackup(): Promise<unknown> {
  const server = source.server({ kind: "operator", secretsKey: FAKE_SECRETS_KEY });
  source.refusals.set("GET /v1/tenants/acme", { status: 404 });
  return makeBackup(server, directory, () => {});
}

function fill(secrets: Record<string, string | null>): void {
  writeFileSync(join(directory, "secrets.json"), JSON.stringify(secrets));
}

function restore(
  options: { overwrite?: boolean; withoutSecrets?: boolean; secretsKey?: string } = {},
): ReturnType<typeof restoreBackup> {
  const { overwrite = false, withoutSecrets = false, secretsKey } = options;
  const server = target.server({ secretsKey });
  return restoreBackup(server, directory, { overwrite, withoutSecrets, onItem: () => {} });
}

function keysAt(tenant: FakeTenant): unknown[] {
  return (tenant.teams.get("desk")?.versions ?? []).map(keyOfVersion);
}

/** Replaces a part of the archived team, as someone may who has the directory. */
function changeArchive(from: string, to: string): void {
  const replace = (file: string, change: (text: string) => string): string => {
    const text = change(readFileSync(join(directory, file), "utf8"));
    writeFileSync(join(directory, file), text);
    return createHash("sha256").update(text).digest("hex");
  };
  const team = replace("team/desk/team.json", (text) => text.replace(from, to));
  const items = replace("items.ndjson", (text) =>
    text.replace(/("path":"team\/desk\/team.json","sha256":")\w+/, `$1${team}`),
  );
  replace("backup.json", (text) => text.replace(/"sha256": "\w+"/, `"sha256": "${items}"`));
}

describe("a restore", () => {
  test("gives each version its own secret", async () => {
    await backUp();
    expect(await restore()).toMatchObject({ refused: [] });
    expect(keysAt(target)).toEqual(["old", "new"]);
  });

  test("starts again with a directory of which one has ended", async () => {
    await backUp();
    await restore();
    expect(await restore()).toMatchObject({
      refused: [{ kind: "team", id: "desk", status: 409, reason: "It exists already." }],
    });
    target.teams.clear();
    expect(await restore()).toMatchObject({ refused: [] });
    expect(keysAt(target)).toEqual(["old", "new"]);
  });

  test("continues with what was deleted meanwhile", async () => {
    source.teams.set("other", { versions: [withKey("a")], parts: {} });
    await backUp();
    fill({
      [keyPlace("desk", 1)]: "old",
      [keyPlace("desk", 2)]: "new",
      [keyPlace("other", 1)]: "a",
    });
    target.teams.set("other", { versions: [withKey("theirs")], parts: {} });
    expect((await restore()).refused).toMatchObject([{ id: "other", status: 409 }]);
    target.teams.delete("desk");
    expect((await restore()).refused).toMatchObject([{ id: "other", status: 409 }]);
    expect(keysAt(target)).toEqual(["old", "new"]);
  });

  test("counts a part that is refused, and restores it with --overwrite", async () => {
    await backUp();
    target.refusals.set("PUT /v1/teams/desk/notify", { status: 422, code: "invalid_request" });
    const refused = [
      {
        kind: "team",
        id: "desk",
        status: 422,
        reason: "its receivers: Refused: invalid_request.",
      },
    ];
    expect(await restore()).toMatchObject({ restored: expect.any(Number) as number, refused });
    expect(await restore()).toMatchObject({ refused });
    target.refusals.clear();
    expect(await restore({ overwrite: true })).toMatchObject({ refused: [] });
    expect(target.teams.get("desk")?.parts).toHaveProperty("notify");
  });

  test("tries a team again whose part met a fault of the server", async () => {
    await backUp();
    target.refusals.set("PUT /v1/teams/desk/notify", { status: 500, code: "internal_error" });
    expect((await restore()).refused).toMatchObject([{ id: "desk", status: 500 }]);
    target.refusals.clear();
    expect(await restore()).toMatchObject({ refused: [] });
    expect(keysAt(target)).toEqual(["old", "new"]);
    expect(target.teams.get("desk")?.parts).toHaveProperty("notify");
  });

  test("is interrupted by a server that is away, and continues the team that it had begun", async () => {
    await backUp();
    target.refusals.set("PUT /v1/teams/desk/notify", { status: 503, code: "unavailable" });
    await expect(restore()).rejects.toThrow("unavailable");
    target.refusals.clear();
    expect(await restore()).toMatchObject({ refused: [] });
    expect(keysAt(target)).toEqual(["old", "new"]);
  });

  test("leaves a team alone that someone else has made after a refusal", async () => {
    await backUp();
    target.refusals.set("POST /v1/teams", { status: 422, code: "invalid_component" });
    expect((await restore()).refused).toMatchObject([{ status: 422 }]);
    target.refusals.clear();
    target.teams.set("desk", { versions: [withKey("theirs")], parts: {} });
    expect((await restore()).refused).toMatchObject([{ status: 409 }]);
    expect(keysAt(target)).toEqual(["theirs"]);
  });

  test("needs the key of sealed secrets before it stores anything", async () => {
    await sealedBackup();
    await expect(restore()).rejects.toMatchObject({
      code: "missing_secrets",
      exitCode: 2,
      issues: [1, 2].map((version) => ({
        path: keyPlace("desk", version),
        message: "is sealed: --secrets-key opens it",
      })),
    });
    const secretsKey = btoa("w".repeat(32));
    await expect(restore({ secretsKey })).rejects.toMatchObject({ code: "wrong_secrets_key" });
    expect(target.requests).toEqual([]);
    expect(await restore({ secretsKey: FAKE_SECRETS_KEY })).toMatchObject({ refused: [] });
    expect(keysAt(target)).toEqual(["old", "new"]);
  });

  test("lists the secrets that it leaves out", async () => {
    await sealedBackup();
    const { todo } = await restore({ withoutSecrets: true });
    expect(todo).toEqual([
      `A component needs its secret: ${keyPlace("desk", 1)}`,
      `A component needs its secret: ${keyPlace("desk", 2)}`,
    ]);
  });

  test("refuses a backup with a file outside of the workspace", async () => {
    await backUp();
    changeArchive('"files": []', '"files": [{ "path": "../component", "name": "team.json" }]');
    await expect(restore()).rejects.toMatchObject({ code: "invalid_path" });
    expect(target.requests).toEqual([]);
  });

  test("sends memories in requests of a size in bytes", async () => {
    // Three bytes in UTF-8 for each character.
    source.teams.clear();
    source.memories.push(...Array.from({ length: 5 }, () => ({ content: "€".repeat(900_000) })));
    await makeBackup(source.server(), directory, () => {});
    await restore();
    expect(target.memoryBodies).toHaveLength(3);
    expect(Math.max(...target.memoryBodies)).toBeLessThan(8_100_000);
  });

  test("names what the backup itself lacks", async () => {
    source.refusals.set("GET /v1/webhooks", { status: 500, code: "tenant_unreadable" });
    await backUp();
    expect(await restore()).toMatchObject({ left_out: ["webhook: Refused: tenant_unreadable."] });
  });

  test("keeps the journal of one that has ended", async () => {
    await backUp();
    await restore();
    expect(readdirSync(join(directory, "restores"))).toEqual([
      expect.stringMatching(/^\w+\.[\d-]+T[\d.-]+Z\.ndjson$/),
    ]);
  });
});
