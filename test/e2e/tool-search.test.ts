import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";

let openai: FakeOpenAI;
let worker: KillableWorker;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      {
        name: "search",
        match: { text: "What is the weather?" },
        reply: {
          tool_calls: [{ name: "search_tools", arguments: { query: "weather of a city" } }],
        },
      },
      { name: "found", match: { text: "Found" }, reply: { content: "I have found a tool." } },
      { name: "later", match: { text: "Thank you." }, reply: { content: "You are welcome." } },
      {
        name: "refuse",
        match: { text: "Once more." },
        times: 1,
        fault: { kind: "status", status: 400 },
      },
      { name: "retried", match: { text: "Once more." }, reply: { content: "Once more." } },
    ],
  });
  worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_EGRESS: openai.origin,
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

const httpTool = (name: string, description: string) => ({
  provider: "HttpTool",
  config: {
    name,
    description,
    scheme: "http",
    host: "127.0.0.1",
    port: 1,
    path: "/",
    method: "GET",
    headers: {},
    json_schema: { type: "object", properties: {} },
  },
});

const component = () => ({
  provider: "RoundRobinGroupChat",
  config: {
    max_turns: 3,
    participants: [
      {
        provider: "AssistantAgent",
        config: {
          name: "helper",
          tool_search: { k: 1 },
          model_client: {
            provider: "OpenAIChatCompletionClient",
            config: { model: "gpt-4o", api_key: "key", base_url: openai.url },
          },
          tools: [
            httpTool("city_weather", "Reports the weather of a city."),
            ...Array.from({ length: 20 }, (_, index) =>
              httpTool(`other_${index}`, "Does nothing."),
            ),
          ],
        },
      },
      { provider: "UserProxyAgent", config: { name: "user", description: "A person." } },
    ],
  },
});

/** The names of the tools in the requests of the model. */
const offered = (): string[][] =>
  openai.log.requests.map(({ body }) =>
    ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(
      (tool) => tool.function.name,
    ),
  );

/** A run of a new team that waits for its user after a search. */
async function searchedRun(id: string): Promise<RunInfo> {
  openai.log.requests.length = 0;
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component: component() }));
  expect(created.status, await created.text()).toBe(201);
  const started = await worker.fetch(
    `/v1/teams/${id}/runs?wait=60`,
    jsonInit({ task: "What is the weather?" }),
  );
  const run = (await started.json()) as RunInfo;
  expect(run).toMatchObject({ status: "waiting" });
  return run;
}

async function answer({ id, team_id, requests }: RunInfo, content: string): Promise<void> {
  const path = `/v1/teams/${team_id}/runs/${id}/requests/${requests[0]?.id}`;
  const answered = await worker.fetch(path, jsonInit({ content }));
  expect(answered.status, await answered.text()).toBe(200);
}

async function ended({ id, team_id }: RunInfo, status: string): Promise<void> {
  await expect
    .poll(async () => {
      const read = await worker.fetch(`/v1/teams/${team_id}/runs/${id}`);
      return ((await read.json()) as RunInfo).status;
    })
    .toBe(status);
}

const FOUND = ["search_tools", "city_weather"];

test("a tool that was found stays offered to the end of the run, also when the process is killed in between", async () => {
  const run = await searchedRun("killed");
  await worker.kill();
  await worker.restart();
  await answer(run, "Thank you.");
  await ended(run, "completed");
  expect(offered()).toEqual([["search_tools"], FOUND, FOUND]);
});

test("a retry continues with what the failed run had found, and the next run begins without it", async () => {
  const run = await searchedRun("retried");
  await answer(run, "Once more.");
  await ended(run, "failed");
  const path = `/v1/teams/${run.team_id}/runs`;
  const retried = await worker.fetch(`${path}/${run.id}/retry`, { method: "POST" });
  await ended((await retried.json()) as RunInfo, "completed");
  const next = await worker.fetch(`${path}?wait=60`, jsonInit({ task: "And now?" }));
  // It is the user's turn to speak.
  await answer((await next.json()) as RunInfo, "Thank you.");
  await expect.poll(offered).toEqual([["search_tools"], FOUND, FOUND, FOUND, ["search_tools"]]);
});
