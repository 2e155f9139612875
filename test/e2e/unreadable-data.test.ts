import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";

const component = SAMPLE_COMPONENT as never;

/** The one team's file, with everything in it. */
function fileOf({ state }: KillableWorker): string {
  const directory = join(state, "TeamObject");
  const file = readdirSync(directory).find(
    (name) => name.endsWith(".sqlite") && !name.startsWith("metadata"),
  );
  const path = join(directory, file ?? "");
  const db = new DatabaseSync(path);
  db.exec("pragma wal_checkpoint(truncate)");
  db.close();
  return path;
}

/** Overwrites the first page of a table. */
function withoutTable(name: string): (file: Buffer, path: string) => Buffer {
  return (file, path) => {
    const db = new DatabaseSync(path);
    const { page } = db
      .prepare("select rootpage as page from sqlite_master where name = ?")
      .get(name) as { page: number };
    db.close();
    return file.fill("A", (page - 1) * 4096, page * 4096);
  };
}

async function worked(worker: KillableWorker): Promise<TroupeClient> {
  const client = new TroupeClient({ baseURL: worker.origin });
  const team = await client.teams.create({ id: "team", component });
  await team.start("Write.");
  await expect.poll(async () => (await team.get()).status).toBe("idle");
  await expect.poll(async () => (await client.teams.list()).teams.length).toBe(1);
  return client;
}

const damages = [
  // Its object cannot be started, so the file stays and no team can have the id.
  { what: "its header", damage: (file: Buffer) => file.fill("A", 0, 100), gone: 500, again: 500 },
  { what: "the table meta", damage: withoutTable("meta"), gone: 404, again: 201 },
  { what: "the table event", damage: withoutTable("event"), gone: 404, again: 201 },
  { what: "everything", damage: () => Buffer.alloc(0), gone: 404, again: 201 },
];

test.each(damages)(
  "a team whose file is corrupt can be deleted: $what",
  async ({ damage, gone, again }) => {
    await using worker = await KillableWorker.start();
    const client = await worked(worker);
    await worker.kill();
    const path = fileOf(worker);
    writeFileSync(path, damage(readFileSync(path), path));
    for (const end of ["-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
    await worker.restart();

    const team = client.team("team");
    await expect(team.messages()).rejects.toMatchObject({
      code: expect.stringMatching(/^(team_unreadable|team_not_found|internal_error)$/) as string,
    });
    await team.delete();
    expect((await client.teams.list()).teams).toEqual([]);
    await expect(team.delete()).rejects.toMatchObject({ status: gone });
    const made = await worker.fetch("/v1/teams", jsonInit({ id: "team", component }));
    await made.body?.cancel();
    expect(made.status).toBe(again);
  },
);

test("data of a newer version is refused with one sentence over HTTP, and continues where that version runs again", async () => {
  await using worker = await KillableWorker.start();
  const client = await worked(worker);
  await worker.kill();
  const path = fileOf(worker);
  const versioned = (version: number): void => {
    const db = new DatabaseSync(path);
    db.exec(`update meta set value = '${version}' where name = 'schema'`);
    db.close();
  };
  const db = new DatabaseSync(path);
  const { value } = db.prepare("select value from meta where name = 'schema'").get() as {
    value: string;
  };
  db.close();
  versioned(99);
  await worker.restart();
  const team = client.team("team");
  for (const call of [() => team.get(), () => team.delete()]) {
    await expect(call()).rejects.toMatchObject({
      status: 503,
      code: "newer_data",
      message: expect.stringContaining("written by a newer version of Troupe") as string,
    });
  }
  await worker.kill();
  versioned(Number(value));
  await worker.restart();
  expect((await team.messages()).messages).toHaveLength(4);
});
