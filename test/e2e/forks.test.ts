import { afterAll, beforeAll, expect, test } from "vitest";
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
