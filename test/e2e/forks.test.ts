import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { MessagePage, TeamInfo } from "#contract/team.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;
let openai: FakeOpenAI;

beforeAll(async () => {
  openai = await startFakeOpenAI({ rules: [{ name: "say", reply: { content: "Hello." } }] });
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai.close();
});

async function contents(team: string): Promise<unknown[]> {
  const { messages } = (await (
    await worker.fetch(`/v1/teams/${team}/messages`)
  ).json()) as MessagePage;
  return messages.map((message) => ["content" in message && message.content, message.turn]);
}

test("a fork has the secrets of its team, and continues when that is gone", async () => {
  const component = {
    provider: "AssistantAgent",
    config: {
      name: "writer",
      description: "writes",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "gpt-4o-mini", base_url: openai.url, api_key: "sk-of-the-team" },
      },
    },
  };
  await worker.fetch("/v1/teams", jsonInit({ id: "team", component }));
  for (const task of ["One.", "Two."]) {
    await worker.fetch("/v1/teams/team/runs?wait=60", jsonInit({ task }));
  }
  expect(await contents("team")).toEqual([
    ["One.", 1],
    ["Hello.", 2],
    ["Two.", 3],
    ["Hello.", 4],
  ]);

  const forked = await worker.fetch("/v1/teams/team/fork", jsonInit({ id: "fork", turn: 2 }));
  expect(forked.status).toBe(201);
  const fork = (await forked.json()) as TeamInfo;
  expect(fork).toMatchObject({ turn: 2, forked_from: { team_id: "team", turn: 2 } });
  expect(JSON.stringify(fork)).not.toContain("sealed");
  expect((await worker.fetch("/v1/teams/team", { method: "DELETE" })).status).toBe(204);

  const run = await worker.fetch("/v1/teams/fork/runs?wait=60", jsonInit({ task: "Now." }));
  expect(await run.json()).toMatchObject({ status: "completed", turn: 4 });
  expect(await contents("fork")).toEqual([
    ["One.", 1],
    ["Hello.", 2],
    ["Now.", 3],
    ["Hello.", 4],
  ]);
  const last = openai.requests.at(-1);
  expect(last?.headers["authorization"]).toBe("Bearer sk-of-the-team");
  expect(JSON.stringify(last?.body)).not.toContain("Two.");
});

const SPEAKER = {
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "speaker",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: ["Hello."] },
    },
  },
};

async function listed(query: string): Promise<Record<string, unknown>> {
  const { teams } = (await (await worker.fetch(`/v1/teams?${query}`)).json()) as {
    teams: { id: string; label: string | null; forked_from: unknown }[];
  };
  return Object.fromEntries(teams.map(({ id, label, forked_from }) => [id, [label, forked_from]]));
}

test("a fork has a label and metadata of its own, and lists say where it comes from", async () => {
  const origin = { id: "origin", label: "Desk", metadata: { desk: 1 }, component: SPEAKER };
  await worker.fetch("/v1/teams", jsonInit(origin));
  const fork = async (body: object): Promise<TeamInfo> =>
    (await (await worker.fetch("/v1/teams/origin/fork", jsonInit(body))).json()) as TeamInfo;
  expect(await fork({ id: "plain" })).toMatchObject({ label: "Desk", metadata: { desk: 1 } });
  const own = { label: "Desk, shorter", metadata: { tried: true } };
  expect(await fork({ id: "named", ...own })).toMatchObject(own);
  expect(await fork({ id: "unnamed", label: null })).toMatchObject({ label: null });
  const from = { team_id: "origin", turn: 0 };
  await expect
    .poll(() => listed("q=named"))
    .toEqual({
      named: ["Desk, shorter", from],
      unnamed: [null, from],
    });
  expect(await listed("q=origin")).toEqual({ origin: ["Desk", null] });
  const refused = await worker.fetch(
    "/v1/teams/origin/fork",
    jsonInit({ id: "long", label: "x".repeat(201) }),
  );
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { errors: [{ path: "label", message: "must be at most 200 characters" }] },
  ]);
});

test("forks of the playground can be left out of the list, and their own forks are none", async () => {
  await worker.fetch("/v1/teams", jsonInit({ id: "played", component: SPEAKER }));
  const metadata = { playground: true };
  await worker.fetch("/v1/teams/played/fork", jsonInit({ id: "played-a", metadata }));
  await worker.fetch("/v1/teams/played-a/fork", jsonInit({ id: "played-b" }));
  const ids = async (query: string): Promise<string[]> =>
    Object.keys(await listed(query)).toSorted();
  await expect.poll(() => ids("q=played")).toEqual(["played", "played-a", "played-b"]);
  expect(await ids("q=played&playground=false")).toEqual(["played", "played-b"]);
  expect(await ids("q=played&playground=true")).toEqual(["played-a"]);
  const refused = await worker.fetch("/v1/teams?playground=yes");
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { errors: [{ path: "playground", message: 'must be "true" or "false"' }] },
  ]);
});

test("the list of a team's runs has the beginnings of their tasks as text where they are asked for", async () => {
  await worker.fetch("/v1/teams", jsonInit({ id: "previewed", component: SPEAKER }));
  const image = { data: "iVBORw0KGgo".padEnd(8_000, "troupe") };
  const tasks = [
    `${"😀".repeat(149)}a${"😀".repeat(100)}`,
    "x".repeat(10_000),
    { type: "MultiModalMessage", source: "user", content: ["What is this?", image] },
    null,
  ];
  for (const task of tasks) {
    await worker.fetch("/v1/teams/previewed/runs?wait=60", jsonInit({ task }));
  }
  const runs = async (query: string): Promise<RunInfo[]> => {
    const page = await worker.fetch(`/v1/teams/previewed/runs${query}`);
    return ((await page.json()) as { runs: RunInfo[] }).runs;
  };
  expect((await runs("?task=preview")).map(({ task }) => task)).toEqual([
    null,
    "What is this?\n<image>",
    "x".repeat(300),
    `${"😀".repeat(149)}a`,
  ]);
  expect((await runs(""))[2]?.task).toMatchObject([{ content: "x".repeat(10_000) }]);
  const refused = await worker.fetch("/v1/teams/previewed/runs?task=text");
  expect([refused.status, await refused.json()]).toMatchObject([
    422,
    { errors: [{ path: "task", message: 'must be "preview"' }] },
  ]);
});
