import { afterAll, beforeAll, expect, test } from "vitest";
import {
  AssistantAgent,
  dumpComponent,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  UserProxyAgent,
} from "troupe";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({}, { entry: "test/e2e/worker/memory.ts" });
});

afterAll(() => worker[Symbol.asyncDispose]());

const human = new UserProxyAgent({ name: "human" });
const writer = new AssistantAgent({
  name: "writer",
  modelClient: new ReplayChatCompletionClient(["Good morning."]),
});

/** Starts a run and does not wait for it. */
async function start(agent: AssistantAgent | UserProxyAgent): Promise<string> {
  const component = dumpComponent(new RoundRobinGroupChat([agent], { maxTurns: 1 }));
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  const team = `/v1/teams/${((await created.json()) as { id: string }).id}`;
  await worker.fetch(`${team}/runs`, jsonInit({ task: "Hello." }));
  return team;
}

async function status(team: string): Promise<unknown> {
  return ((await (await worker.fetch(team)).json()) as { status: unknown }).status;
}

/** Milliseconds that timers of the process were set to. */
async function timers(): Promise<unknown> {
  return ((await (await worker.fetch("/memory")).json()) as { timers: unknown }).timers;
}

test.each([
  ["whose run has ended", writer, "idle"],
  ["that waits for a human", human, "waiting"],
])("no timer keeps a team %s", async (_, agent, rests) => {
  const team = await start(agent);
  await expect.poll(() => status(team)).toBe(rests);
  // Streams are closed after 15 s; here there is none.
  await expect.poll(timers).toEqual([]);
});
