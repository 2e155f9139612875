import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  ApiError,
  ConnectionError,
  RunError,
  type StreamItem,
  TroupeClient,
} from "#client/index.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { file, Workplace } from "../support/pages.ts";
import { TestWorker } from "../support/worker.ts";
import { collect, expectSentence, SENTENCE, speaker } from "./support/speaker.ts";
import { BadProxy, type Interference } from "./support/proxy.ts";

const HUMAN = {
  provider: "RoundRobinGroupChat",
  config: {
    participants: [{ provider: "UserProxyAgent", config: { name: "human" } }],
    max_turns: 1,
  },
};

let fake: FakeOpenAI;
let worker: TestWorker;
let client: TroupeClient;
let origin: string;

beforeAll(async () => {
  fake = await startFakeOpenAI({
    rules: [
      { name: "refuse", match: { text: "Fail." }, fault: { kind: "status", status: 400 } },
      { name: "speak", pace_ms: 5, reply: { content: SENTENCE } },
    ],
  });
  worker = await TestWorker.start({ SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") });
  origin = await worker.origin;
  client = new TroupeClient({ baseURL: origin });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await fake.close();
});

test("a run's items end with its result", async () => {
  const team = await client.teams.create({ component: speaker(fake.url) });
  const stream = team.run("Speak.");
  const items = await collect(stream);
  const last = items.at(-1);
  expect(last).toMatchObject({ kind: "result", result: { stop_reason: null } });
  expectSentence(items);
  expect(stream.conversation.texts).toEqual([]);
  expect(stream.conversation.messages.map(({ source }) => source)).toEqual(["user", "speaker"]);
  expect(last?.kind === "result" && last.result.messages.at(-1)).toMatchObject({
    content: SENTENCE,
  });
  expect(stream.conversation.run?.status).toBe("completed");
  await team.delete();
});

const INTERFERENCES: [string, Interference][] = [
  ["cuts", { cutAfter: 700 }],
  ["delays", { delayMs: 3 }],
  ["doubles", { doubles: true }],
  ["cuts and doubles", { cutAfter: 1500, doubles: true }],
  ["loses the first answers", { loses: 2 }],
];

test.each(INTERFERENCES)("a proxy that %s changes nothing", async (_, interference) => {
  const team = await client.teams.create({ component: speaker(fake.url) });
  await using proxy = await BadProxy.start(origin, interference);
  const through = new TroupeClient({ baseURL: proxy.origin }).team(team.id);
  const stream = through.run("Speak.");
  const items = await collect(stream);
  expectSentence(items);
  expect(items.filter(({ kind }) => kind === "message")).toHaveLength(2);
  expect(items.filter(({ kind }) => kind === "result")).toHaveLength(1);
  expect(stream.conversation.messages.at(-1)).toMatchObject({ content: SENTENCE });
  const { runs } = await team.runs();
  expect(runs).toHaveLength(1);
});

test("leaving the loop lets the run go on, and it can be watched again", async () => {
  const team = await client.teams.create({ component: speaker(fake.url) });
  let run: string | undefined;
  for await (const item of team.run("Speak.")) {
    if (item.kind === "run") run = item.run.id;
    if (item.kind === "text") break;
  }
  const { messages } = await team.watch(run ?? "").result();
  expect(messages.at(-1)).toMatchObject({ content: SENTENCE });
});

test("a question is answered while the stream waits", async () => {
  const team = await client.teams.create({ component: HUMAN });
  const stream = team.run("Ask me.");
  for await (const item of stream) {
    if (item.kind !== "run") continue;
    const [request] = item.run.requests;
    if (request) await team.answer(item.run.id, request.id, { content: "Yes." });
  }
  expect(stream.conversation.messages.at(-1)).toMatchObject({ source: "human", content: "Yes." });
});

test("a run that fails or is cancelled throws, with its code", async () => {
  const team = await client.teams.create({ component: speaker(fake.url) });
  const failed = await team
    .run("Fail.")
    .result()
    .catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(RunError);
  expect((failed as RunError).run).toMatchObject({ status: "failed" });
  expect((failed as RunError).code).toBe((failed as RunError).run.error?.type);
  const waiting = await client.teams.create({ component: HUMAN });
  const stream = waiting.run("Ask me.");
  const cancelled = collectUntilWaiting(stream, (run) => waiting.stop(run, "now"));
  await expect(cancelled).rejects.toMatchObject({ name: "RunError", code: "cancelled" });
});

async function collectUntilWaiting(
  stream: AsyncIterable<StreamItem>,
  stop: (run: string) => Promise<unknown>,
): Promise<void> {
  for await (const item of stream) {
    if (item.kind === "run" && item.run.status === "waiting") await stop(item.run.id);
  }
}

test("a refusal has the problem's code and places", async () => {
  const refused = await client.teams
    .create({ template: "nothing" })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ status: 422, code: "unknown_template" });
  const absent = client.team("absent").get();
  await expect(absent).rejects.toMatchObject({ status: 404, code: "team_not_found" });
  const nobody = new TroupeClient({ baseURL: "http://127.0.0.1:9", maxRetries: 0 });
  await expect(nobody.whoami()).rejects.toBeInstanceOf(ConnectionError);
  const other = new TroupeClient({ baseURL: fake.origin, maxRetries: 0 });
  await expect(other.whoami()).rejects.toMatchObject({ code: "unexpected_response" });
});

test("teams, forks, states, schedules, keys and lists", async () => {
  const team = await client.teams.create({ component: HUMAN, label: "Client" });
  expect(await team.get()).toMatchObject({ id: team.id, label: "Client", status: "idle" });
  const run = await team.start("Ask me.");
  expect(run).toMatchObject({ team_id: team.id });
  const [request] = await waitForRequest(team.id, run.id);
  expect(await client.requests.list()).toMatchObject({ requests: [{ team_id: team.id }] });
  await team.answer(run.id, request?.id ?? "", { content: "Yes." });
  expect((await team.watch(run.id).result()).messages).toHaveLength(3);
  expect((await team.messages({ limit: 1 })).messages).toHaveLength(1);
  const state = await team.saveState();
  const fork = await team.fork();
  expect(await fork.get()).toMatchObject({ forked_from: { team_id: team.id } });
  await fork.loadState(state);
  await fork.reset();
  const schedule = await team.createSchedule({ cron: "0 8 * * *", task: "Wake up." });
  await team.changeSchedule(schedule.id, { enabled: false });
  expect(await team.schedule(schedule.id)).toMatchObject({ enabled: false });
  await team.deleteSchedule(schedule.id);
  expect((await team.schedules()).schedules).toEqual([]);
  expect((await client.teams.list({ limit: 1 })).teams).toHaveLength(1);
  expect((await client.runs.list({ team: team.id })).runs).toHaveLength(1);
  expect(await client.usage({ by: "team" })).toMatchObject({ total: {} });
  expect(await client.whoami()).toMatchObject({ kind: "local" });
  const key = await client.keys.create({ name: "from the client" });
  expect((await client.keys.list()).keys).toMatchObject([{ id: key.id }]);
  await client.keys.revoke(key.id);
  await team.delete();
  await expect(team.get()).rejects.toMatchObject({ code: "team_not_found" });
});

async function waitForRequest(team: string, run: string): Promise<{ id: string }[]> {
  for await (const item of client.team(team).watch(run)) {
    if (item.kind === "run" && item.run.requests.length > 0) return item.run.requests;
  }
  throw new Error("the run asked nothing");
}

test("the page's program writes what the agents say", async () => {
  using place = new Workplace();
  const program = place.write("story.ts", file("story.ts"));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [program], {
    env: { ...process.env, TROUPE_URL: origin },
  });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/\[user\] TextMessage\n[\s\S]*\[writer\] TextMessage/);
});
