import { expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { TriggerDelivery } from "#contract/team/trigger.ts";
import { jsonInit } from "../support/http-app.ts";
import { readUntil } from "../support/read-until.ts";
import { type Started, steeringStage, team } from "../support/steered-teams.ts";
import { TestWorker } from "../support/worker.ts";

// Requests for runs that become messages into the active one, and messages to runs that do not work at the moment.

const stage = steeringStage((settings) => TestWorker.start(settings));
const { teams } = stage;

async function ask<T>(method: string, path: string, body?: unknown): Promise<T> {
  const init = body === undefined ? { method } : jsonInit(body, method);
  const response = await stage.worker.fetch(path, init);
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return JSON.parse(text) as T;
}

async function reached({ team: id, run }: Started, status: string): Promise<RunInfo> {
  const read = (): Promise<RunInfo> => ask<RunInfo>("GET", `/v1/teams/${id}/runs/${run}`);
  await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe(status);
  return read();
}

test("a schedule speaks into the active run, and starts one of an idle team", async () => {
  const id = await teams.create(teams.assistant("writer"));
  const path = `/v1/teams/${id}/schedules`;
  const at = "2099-01-01T00:00:00Z";
  await ask("POST", path, { id: "s", at, task: "Report.", on_conflict: "steer" });
  const first = await ask<RunInfo>("POST", `${path}/s/run_now`, {});
  expect(first.metadata).toMatchObject({ schedule_id: "s" });
  const request = await stage.model.request(1);
  const again = await ask<RunInfo>("POST", `${path}/s/run_now`, {});
  expect(again.id).toBe(first.id);
  const second = await stage.model.request(2);
  await request.closed;
  expect(second.texts).toEqual(["You are writer.", "Report.", "Report."]);
  second.end("Here it is.");
  expect((await teams.finished({ team: id, run: first.id })).status).toBe("completed");
  expect(await teams.said(id)).toEqual(["Report.", "Report.", "Here it is."]);
});

test("an event speaks into the active run once, and starts a run with its payload of an idle team", async () => {
  const id = await teams.create(teams.assistant("writer"));
  const trigger = `/v1/teams/${id}/triggers/door`;
  const input = { kind: "plain", task: "It is {{ what }}.", on_conflict: "steer" };
  const { secret } = await ask<{ secret: string }>("PUT", trigger, input);
  const send = async (what: string, key: string): Promise<{ status: number; run: string }> => {
    const response = await stage.worker.fetch(
      `/in/local/${id}/door`,
      jsonInit({ what }, "POST", { authorization: `Bearer ${secret}`, "idempotency-key": key }),
    );
    const text = await response.text();
    expect(response.ok, text).toBe(true);
    return { status: response.status, run: (JSON.parse(text) as { run: string }).run };
  };
  const first = await send("dry", "one");
  expect(first.status).toBe(202);
  const request = await stage.model.request(1);
  expect(request.texts.join()).toContain('"what": "dry"');
  expect(await send("wet", "two")).toEqual(first);
  const second = await stage.model.request(2);
  await request.closed;
  expect(await send("wet", "two")).toEqual({ ...first, status: 200 });
  const [message, ...others] = second.texts.filter((text) => text.includes("wet"));
  expect(others).toEqual([]);
  expect(message).toMatch(/^It is wet\.\n\n.*from outside \(plain\).*must not be followed\.$/s);
  second.end("Take a coat.");
  expect((await teams.finished({ team: id, run: first.run })).status).toBe("completed");
  expect(stage.model.requests).toHaveLength(2);
  const { deliveries } = await ask<{ deliveries: TriggerDelivery[] }>(
    "GET",
    `${trigger}/deliveries`,
  );
  expect(deliveries.map(({ status, run }) => ({ status, run }))).toEqual([
    { status: "ran", run: first.run },
    { status: "ran", run: first.run },
  ]);
});

test("a streamed request that speaks into the active run has its events from the message on", async () => {
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [teams.assistant("writer"), teams.assistant("critic")],
      max_turns: 2,
    }),
  );
  (await stage.model.request(1)).end("Once.");
  const second = await stage.model.request(2);
  second.begin("Well");
  await teams.shown(started, "Well");
  const response = await stage.worker.fetch(
    `/v1/teams/${started.team}/runs`,
    jsonInit({ task: "Shorter.", on_conflict: "steer" }, "POST", { accept: "text/event-stream" }),
  );
  expect(response.status).toBe(200);
  expect(response.headers.get("location")).toBe(`/v1/teams/${started.team}/runs/${started.run}`);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const beginning = await readUntil(reader, /Shorter\./);
  expect(beginning).not.toContain("Once.");
  second.end(" done.");
  await readUntil(reader, /"Well done\."/);
  await reader.cancel();
  expect((await teams.finished(started)).status).toBe("completed");
  expect(await teams.said(started.team)).toEqual(["Begin.", "Once.", "Shorter.", "Well done."]);
});

test("a run that waits reads the message when it continues", async () => {
  const person = { provider: "UserProxyAgent", config: { name: "person" } };
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [person, teams.assistant("writer")],
      max_turns: 2,
    }),
  );
  const { requests } = await reached(started, "waiting");
  const sent = await teams.steer(started, "In German.");
  expect((await teams.said(started.team)).at(-1)).toBe("In German.");
  await reached(started, "waiting");
  const path = `/v1/teams/${started.team}/runs/${started.run}/requests/${requests[0]?.id}`;
  await ask("POST", path, { content: "Yes." });
  const first = await stage.model.request(1);
  expect(first.texts.filter((text) => text === "In German.")).toHaveLength(1);
  expect(first.texts).toContain("Yes.");
  first.end("Ja.");
  expect((await teams.finished(started)).status).toBe("completed");
  const ids = (await teams.log(started.team)).map((message) => message.id);
  expect(ids.filter((one) => one === sent)).toHaveLength(1);
});

test("a run that is paused reads the message when it continues", async () => {
  const started = await teams.start(
    team("RoundRobinGroupChat", {
      participants: [teams.assistant("writer"), teams.assistant("critic")],
      max_turns: 2,
    }),
  );
  const path = `/v1/teams/${started.team}/runs/${started.run}`;
  const first = await stage.model.request(1);
  first.begin("Once");
  await teams.shown(started);
  await ask("POST", `${path}/pause`, {});
  first.end(".");
  await reached(started, "paused");
  await teams.steer(started, "Briefly.");
  await reached(started, "paused");
  expect(stage.model.requests).toHaveLength(1);
  await ask("POST", `${path}/resume`, {});
  const second = await stage.model.request(2);
  expect(second.texts).toEqual(["You are critic.", "Begin.", "Once.", "Briefly."]);
  second.end("Good.");
  expect((await teams.finished(started)).status).toBe("completed");
});
