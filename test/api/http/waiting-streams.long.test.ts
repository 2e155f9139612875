import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonInit } from "../../support/http-app.ts";
import { readUntil } from "../../support/read-until.ts";
import { TestWorker } from "../../support/worker.ts";
import { HUMAN, inTurn, newTeam } from "../protocols/support/teams.ts";
import { request } from "../protocols/a2a/support/rpc.ts";

/** How long the team is held by a stream whose run waits, and the time between two pings. */
const HELD_MS = 15_000;

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start();
  await newTeam(worker, { id: "desk", component: inTurn(HUMAN) });
});
afterAll(() => worker[Symbol.asyncDispose]());

test("streams that answer a request stay open while a human takes longer than they hold the team", async () => {
  const reader = ({ body }: Response) => {
    if (body === null) throw new Error("there is no stream");
    return body.getReader();
  };
  const started = reader(
    await worker.fetch(
      "/v1/teams/desk/runs",
      jsonInit({ task: "go" }, "POST", { accept: "text/event-stream" }),
    ),
  );
  const asked = await readUntil(started, /"status":"waiting"/);
  const [, run = ""] = /"id":"([^"]+)","team_id"/.exec(asked) ?? [];
  const [, question = ""] = /"requests":\[\{"id":"([^"]+)"/.exec(asked) ?? [];
  const opened = reader(await worker.fetch(`/v1/teams/desk/runs/${run}/events`));
  const subscribed = reader(
    await worker.fetch(
      "/a2a/teams/desk",
      jsonInit(request("SubscribeToTask", { id: run }), "POST", { "a2a-version": "1.0" }),
    ),
  );
  await readUntil(opened, /caught_up/);
  await readUntil(subscribed, /TASK_STATE_INPUT_REQUIRED/);
  // The stream of the start is handed over: the run is shown again.
  const handed = await readUntil(started, /caught_up/);
  expect(handed).toMatch(/"status":"waiting"/);
  const begun = Date.now();
  while (Date.now() - begun < HELD_MS / 3) await readUntil(opened, /: ping/);
  const answered = await worker.fetch(
    `/v1/teams/desk/runs/${run}/requests/${question}`,
    jsonInit({ content: "Lyon" }),
  );
  expect(answered.status).toBe(200);
  for (const native of [started, opened]) {
    expect((await readUntil(native, /TaskResult/)).match(/"content":"Lyon"/g)?.length).toBe(1);
    expect((await native.read()).done).toBe(true);
  }
  await readUntil(subscribed, /TASK_STATE_COMPLETED/);
  expect((await subscribed.read()).done).toBe(true);
});
