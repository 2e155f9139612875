// A version is deployed while runs, streams, questions and a schedule are open, and the version before is deployed again after it. The
// version that is deployed is the source as it is with one migration more for each class of objects (`next`), so the version before is
// all of the source as it is (`present`): a retreat is that of code that users run. Two Workers in one miniflare are of the two
// versions: one has the objects, the other is in front of them. The last three versions of the tables are those of databases whose
// tables were taken back to what these versions had; test/chaos/versions.ts has the code of an earlier version, where git has it.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { columnsOfObjects, takeBack } from "../support/earlier-tables.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { OpenRuns } from "../support/open-runs.ts";
import {
  contentsOf,
  objectFiles,
  SETTINGS,
  tableVersions,
  TwoVersions,
} from "../support/two-versions.ts";

const NEWER = { status: 503, code: "newer_data", retryAfter: 120_000 };

test("open runs, streams, questions and schedules reach one outcome over an upgrade", async () => {
  await using deployed = await TwoVersions.start({ objects: "present", front: "next" });
  await using open = await OpenRuns.begin(deployed);
  await deployed.deploy({ objects: "next", front: "present" });
  await open.continued();
  expect(await tablesAt(deployed.origin)).toEqual(tableVersions("next"));
  await open.answer("untouched");
  await open.finish();
});

test("the version before refuses what the next one has opened, changes nothing of it, and the next one continues", async () => {
  await using deployed = await TwoVersions.start({ objects: "present", front: "present" });
  await using open = await OpenRuns.begin(deployed);
  const { client, front } = open;
  await deployed.deploy({ objects: "next", front: "present" });
  await open.continued();
  const opened = ["speaks", "waits", "pauses", "due"];
  for (const id of opened) await client.team(id).get();
  await client.memories.list({ user: "anna" });
  await deployed.stop();
  const stored = contents(deployed.state);

  await deployed.deploy({ objects: "present", front: "next" });
  for (const calls of [client, front]) {
    for (const id of opened) {
      await expect(calls.team(id).get()).rejects.toMatchObject(NEWER);
      await expect(calls.team(id).start("More.")).rejects.toMatchObject(NEWER);
      await expect(calls.team(id).delete()).rejects.toMatchObject(NEWER);
    }
    await expect(calls.memories.list({ user: "anna" })).rejects.toMatchObject(NEWER);
    await expect(calls.teams.list()).rejects.toMatchObject(NEWER);
  }
  const refusals = (): string[][] => open.watchers.map((watcher) => [...watcher.refusals]);
  await expect.poll(refusals).toEqual([["retry"], ["newer_data"]]);
  // The next version has not opened this team.
  await open.answer("untouched");
  await deployed.stop();
  expect(contents(deployed.state)).toMatchObject(stored);

  await deployed.deploy({ objects: "next", front: "next" });
  await open.continued();
  await open.finish();
});

test.each([
  ["one version", 1],
  ["two versions", 2],
  ["three versions", 3],
])(
  "open runs, streams, questions and schedules in tables that are %s older reach one outcome",
  async (_, versions) => {
    const operator = "operator-key-of-the-tests";
    const hash = createHash("sha256").update(operator).digest("hex");
    await using worker = await KillableWorker.start({ ...SETTINGS, OPERATOR_KEY_HASH: hash });
    const { origin } = worker;
    await using open = await OpenRuns.begin({ origin, front: origin });
    await worker.kill();
    const before = columnsOfObjects(worker.state);
    takeBack(worker.state, versions);
    await worker.restart();
    await open.continued();
    await open.answer("untouched");
    await open.finish();
    // The list of tenants is an object, too.
    const headers = { authorization: `Bearer ${operator}` };
    expect((await worker.fetch("/v1/tenants", { headers })).status).toBe(200);
    await worker.kill();
    const after = columnsOfObjects(worker.state);
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const [path, columns] of Object.entries(before)) {
      expect(after[path]).toEqual(expect.arrayContaining(columns));
    }
  },
);

async function tablesAt(origin: string): Promise<unknown> {
  const response = await fetch(`${origin}/healthz`);
  await response.body?.cancel();
  const pairs = response.headers.get("troupe-tables")?.split(", ") ?? [];
  return Object.fromEntries(
    pairs.map((pair) => pair.split("=")).map(([object, version]) => [object, Number(version)]),
  );
}

/** What the objects with tables of the next version have stored, by their files. */
function contents(state: string): Record<string, unknown> {
  const files = ["TeamObject", "TenantObject", "MemoryObject"].flatMap((of) =>
    objectFiles(state, of),
  );
  const all = files.map((path) => [path, contentsOf(path)] as const);
  return Object.fromEntries(all.filter(([, tables]) => "of_the_next_version" in tables));
}
