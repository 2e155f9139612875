import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { damaged, fileOf, withoutTable } from "../support/damaged-files.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";

const component = SAMPLE_COMPONENT as never;

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
  { what: "its header", damage: (file: Buffer) => file.fill("A", 0, 100), gone: 500, again: 503 },
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
    damaged(fileOf(worker, "TeamObject", "event"), damage);
    await worker.restart();

    const team = client.team("team");
    await expect(team.messages()).rejects.toMatchObject({
      code: expect.stringMatching(
        /^(team_unreadable|team_not_found|temporarily_unavailable)$/,
      ) as string,
    });
    await team.delete();
    expect((await client.teams.list()).teams).toEqual([]);
    await expect(team.delete()).rejects.toMatchObject({ status: gone });
    const made = await worker.fetch("/v1/teams", jsonInit({ id: "team", component }));
    await made.body?.cancel();
    expect(made.status).toBe(again);
  },
);
