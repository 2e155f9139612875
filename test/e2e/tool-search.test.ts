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

test("a tool that was found stays offered to the end of the run, also when the process is killed in between", async () => {
  const created = await worker.fetch(
    "/v1/teams",
    jsonInit({ id: "weather", component: component() }),
  );
  expect(created.status, await created.text()).toBe(201);
  const started = await worker.fetch(
    "/v1/teams/weather/runs?wait=60",
    jsonInit({ task: "What is the weather?" }),
  );
  const run = (await started.json()) as RunInfo;
  expect(run).toMatchObject({ status: "waiting" });
  await worker.kill();
  await worker.restart();
  const answered = await worker.fetch(
    `/v1/teams/weather/runs/${run.id}/requests/${run.requests[0]?.id}`,
    jsonInit({ content: "Thank you." }),
  );
  expect(answered.status, await answered.text()).toBe(200);
  await expect
    .poll(async () => {
      const read = await worker.fetch(`/v1/teams/weather/runs/${run.id}`);
      return ((await read.json()) as RunInfo).status;
    })
    .toBe("completed");
  const offered = openai.log.requests.map(({ body }) =>
    ((body as { tools?: { function: { name: string } }[] }).tools ?? []).map(
      (tool) => tool.function.name,
    ),
  );
  expect(offered).toEqual([
    ["search_tools"],
    ["search_tools", "city_weather"],
    ["search_tools", "city_weather"],
  ]);
});
