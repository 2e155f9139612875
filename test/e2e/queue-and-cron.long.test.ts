import { afterAll, beforeAll, expect, test } from "vitest";
import { type TeamClient, TroupeClient } from "#client/index.ts";
import { sha256Hex } from "#core/hash.ts";
import { TestWorker } from "../support/worker.ts";

const KEY = "a-key-of-the-support-desk-for-tests-only";

let worker: TestWorker;
let client: TroupeClient;

beforeAll(async () => {
  const key = {
    hash: await sha256Hex(KEY),
    tenant: "support",
    scopes: ["teams:read", "runs:read"],
  };
  worker = await TestWorker.start(
    { TROUPE_OPEN: "", API_KEYS: JSON.stringify([key]) },
    { entry: "examples/queue-and-cron/worker.ts", memories: false, handlers: true },
  );
  client = new TroupeClient({ baseURL: await worker.origin, token: KEY });
});

afterAll(() => worker[Symbol.asyncDispose]());

async function answers(team: TeamClient): Promise<unknown[]> {
  const { runs } = await team.runs();
  return Promise.all(runs.map(async ({ id }) => (await team.watch(id).result()).messages.at(-1)));
}

test("a message that a queue delivers twice starts one run of one team", async () => {
  const { queue } = await worker.handlers();
  const message = {
    id: "first",
    timestamp: new Date(0),
    attempts: 1,
    body: { id: "17", text: "My parcel is late." },
  };
  for (const attempts of [1, 2]) {
    const { outcome, explicitAcks } = await queue("tickets", [{ ...message, attempts }]);
    expect({ outcome, explicitAcks }).toEqual({ outcome: "ok", explicitAcks: ["first"] });
  }
  expect(await answers(client.team("ticket-17"))).toMatchObject([
    { source: "clerk", content: "Thank you, we will look into it." },
  ]);
});

test("a cron trigger that fires twice writes one report", async () => {
  const { scheduled } = await worker.handlers();
  const options = { scheduledTime: new Date("2026-11-22T06:00:00Z"), cron: "0 6 * * *" };
  for (const _ of [1, 2]) expect(await scheduled(options)).toMatchObject({ outcome: "ok" });
  expect(await answers(client.team("report-2026-11-22"))).toMatchObject([
    { source: "reporter", content: "All quiet." },
  ]);
});
