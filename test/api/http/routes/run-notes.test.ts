import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

let worker: TestWorker;
let models: FakeOpenAI;

beforeAll(async () => {
  models = await startFakeOpenAI({});
  worker = await TestWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OPENAI_API_KEY: "k",
    OPENAI_BASE_URL: models.url,
    OPENAI_MODEL: "some-model",
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await models.close();
});

beforeEach(() => models.rules.set([{ name: "answer", reply: { content: "Hello." } }]));

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE_TASK = {
  type: "MultiModalMessage",
  source: "user",
  content: ["What is it?", { data: PIXEL }],
};
const NO_IMAGES = {
  agent: "assistant",
  message: "asked without images: its model client has no vision (model_info.vision is false)",
};

async function newTeam(body: object): Promise<string> {
  const created = await worker.fetch("/v1/teams", jsonInit(body));
  expect(created.status, await created.clone().text()).toBe(201);
  return ((await created.json()) as { id: string }).id;
}

async function run(team: string, task: unknown): Promise<RunInfo> {
  const response = await worker.fetch(`/v1/teams/${team}/runs?wait=60`, jsonInit({ task }));
  return (await response.json()) as RunInfo;
}

test("a run has a note that its model did not see an image", async () => {
  const team = await newTeam({ template: "tools_assistant" });
  expect(await run(team, "Hello.")).not.toHaveProperty("notes");
  const { status, notes } = await run(team, IMAGE_TASK);
  expect(status).toBe("completed");
  expect(notes).toEqual([NO_IMAGES]);
  expect(JSON.stringify(models.requests.at(-1)?.body)).not.toContain(PIXEL);
  // Another run with the image in its conversation says it again, once.
  expect((await run(team, "And now?")).notes).toEqual([NO_IMAGES]);
});

test("a stream has the note while the run continues", async () => {
  const team = await newTeam({ template: "tools_assistant" });
  const response = await worker.fetch(`/v1/teams/${team}/runs`, {
    ...jsonInit({ task: IMAGE_TASK }),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  const runs = [...(await response.text()).matchAll(/^event: run\ndata: (.*)$/gm)].map(
    ([, data = ""]) => JSON.parse(data) as RunInfo,
  );
  expect(runs[0]).not.toHaveProperty("notes");
  expect(runs.at(-1)?.notes).toEqual([NO_IMAGES]);
});

test("a known model of the template sees the image, without a note", async () => {
  const found = await worker.fetch("/v1/templates");
  const { templates } = (await found.json()) as {
    templates: { name: string; description: string }[];
  };
  const about = templates.find(({ name }) => name === "tools_assistant");
  expect(about?.description).toContain("images");
});

test("an image that a tool returned is noted, too", async () => {
  models.rules.set([
    {
      name: "call",
      match: { role: "user" },
      reply: { tool_calls: [{ name: "look", arguments: "{}" }] },
    },
    { name: "answer", reply: { content: "Hello." } },
  ]);
  const team = await newTeam({ template: "tools_assistant" });
  const init = jsonInit({ task: "Look.", tools: [{ name: "look" }] });
  const waiting = (await (
    await worker.fetch(`/v1/teams/${team}/runs?wait=60`, init)
  ).json()) as RunInfo;
  const path = `/v1/teams/${team}/runs/${waiting.id}`;
  const answer = jsonInit({ content: `[Image: ${PIXEL}]` });
  const [request] = waiting.requests;
  const answered = await worker.fetch(`${path}/requests/${request?.id}`, answer);
  expect(answered.status, await answered.clone().text()).toBe(200);
  await expect
    .poll(async () => (await (await worker.fetch(path)).json()) as RunInfo)
    .toMatchObject({ status: "completed", notes: [NO_IMAGES] });
});

test("reasoning that OpenAI refused to accept back is noted", async () => {
  const team = await newTeam({
    component: {
      provider: "AssistantAgent",
      config: {
        name: "thinker",
        description: "",
        model_client: {
          provider: "OpenAIChatCompletionClient",
          config: { model: "gpt-5.6", api_key: "k", base_url: models.url, api: "responses" },
        },
      },
    },
  });
  models.rules.set([{ name: "think", reply: { content: "Hello.", reasoning: "Hm." } }]);
  expect(await run(team, "Hello.")).not.toHaveProperty("notes");
  const refusal: RuleInput = {
    name: "refusal",
    times: 1,
    fault: {
      kind: "status",
      status: 400,
      code: "invalid_encrypted_content",
      message: "The encrypted content could not be verified.",
    },
  };
  models.rules.set([refusal, { name: "answer", reply: { content: "Hello again." } }]);
  const { status, notes } = await run(team, "Again.");
  expect(status).toBe("completed");
  const message = "asked without the reasoning of earlier answers that the server refused";
  expect(notes).toEqual([{ agent: "thinker", message }]);
});

test("OpenAI's protocol reports notes and the details of usage", async () => {
  const usage = {
    prompt_tokens: 30,
    completion_tokens: 9,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 6 },
    completion_tokens_details: { reasoning_tokens: 5 },
  };
  models.rules.set([{ name: "answer", reply: { content: "Hello.", usage } }]);
  const ask = async (path: string, body: object): Promise<object> => {
    const request = jsonInit({ model: "template:tools_assistant", ...body });
    return (await (await worker.fetch(`/openai/v1/${path}`, request)).json()) as object;
  };
  const url = `data:image/png;base64,${PIXEL}`;
  const content = [
    { type: "text", text: "What is it?" },
    { type: "image_url", image_url: { url } },
  ];
  expect(await ask("chat/completions", { messages: [{ role: "user", content }] })).toMatchObject({
    usage: { ...usage, total_tokens: 39 },
    troupe: { notes: [NO_IMAGES] },
  });
  expect(await ask("responses", { input: "Hello." })).toMatchObject({
    usage: {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 6 },
      output_tokens: 9,
      output_tokens_details: { reasoning_tokens: 5 },
      total_tokens: 39,
    },
  });
});
