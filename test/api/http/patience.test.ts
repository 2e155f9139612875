import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { RetryingFrame } from "#contract/stream/stream-frame.ts";
import type { RuleInput } from "../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";
import { readUntil } from "../../support/read-until.ts";

let worker: TestWorker;
let models: FakeOpenAI;
/** Another maker. */
let others: FakeOpenAI;

beforeAll(async () => {
  [models, others] = await Promise.all([startFakeOpenAI({}), startFakeOpenAI({})]);
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await Promise.all([models.close(), others.close()]);
});

const answers = (content: string): RuleInput => ({ name: "answer", reply: { content } });

const refuses = (status: number, times: number, headers = {}, code?: string): RuleInput => ({
  name: "refusal",
  times,
  fault: { kind: "status", status, headers, ...(code !== undefined && { code }) },
});

const client = (server: FakeOpenAI, model: string, config: object = {}) => ({
  provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  config: { model, base_url: server.url, api_key: "sk-test", ...config },
});

const fallback = (clients: object[], config: object = {}) => ({
  provider: "troupe.models.FallbackChatCompletionClient",
  config: { clients, ...config },
});

async function runWith(
  model_client: object,
  stream = false,
  options: object = {},
): Promise<RunInfo> {
  const component = {
    provider: "AssistantAgent",
    config: { name: "helper", description: "", model_client, model_client_stream: stream },
  };
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  expect(created.status, await created.clone().text()).toBe(201);
  const { id } = (await created.json()) as { id: string };
  const response = await worker.fetch(
    `/v1/teams/${id}/runs?wait=60`,
    jsonInit({ task: "Say it.", ...options }),
  );
  return (await response.json()) as RunInfo;
}

const said = ({ result }: RunInfo) =>
  result?.messages.map((message) => ("content" in message ? message.content : "")).at(-1);

const retries = { SLOW: { "retry-after-ms": "20" } };

test("a model server that refuses more than five times is retried until it answers", async () => {
  models.rules.set([refuses(503, 6, retries.SLOW), answers("Back again.")]);
  const before = models.requests.length;
  const run = await runWith(client(models, "gpt-4o"));
  expect(run.status).toBe("completed");
  expect(said(run)).toBe("Back again.");
  expect(models.requests.length - before).toBe(7);
});

test.each([
  ["no quota left", refuses(429, 9, {}, "insufficient_quota"), {}, 1],
  ["a bad request", refuses(400, 9, { "x-should-retry": "true" }), {}, 1],
  [
    "a server that says to come back in three minutes",
    refuses(429, 9, { "retry-after": "180" }),
    {},
    1,
  ],
  ["attempts used up", refuses(503, 9, retries.SLOW), { retry: { attempts: 2 } }, 2],
  ["AutoGen's max_retries used up", refuses(503, 9, retries.SLOW), { max_retries: 2 }, 3],
  ["no patience", refuses(503, 9), { retry: { for_seconds: 0 } }, 1],
])("a run fails with %s", async (_what, rule, config, requests) => {
  models.rules.set([rule, answers("Never.")]);
  const before = models.requests.length;
  const run = await runWith(client(models, "gpt-4o", config));
  expect(run.status).toBe("failed");
  expect(models.requests.length - before).toBe(requests);
});

test("a run that does not wait reports how long the server asks to wait", async () => {
  models.rules.set([refuses(429, 9, { "retry-after": "180" }), answers("Never.")]);
  const { error } = await runWith(client(models, "gpt-4o"));
  expect(error?.message).toContain("asks for a wait of 180 seconds");
});

test("the time of waiting for a model counts as running time", async () => {
  models.rules.set([refuses(503, 9, { "retry-after": "60" }), answers("Never.")]);
  const run = await runWith(client(models, "gpt-4o"), false, { timeout_seconds: 0.2 });
  expect(run).toMatchObject({ status: "failed", error: { type: "run_timeout" } });
});

test("a stream reports when a model is retried, and the run waits for it on its alarm", async () => {
  models.rules.set([refuses(429, 1, { "retry-after": "100" }), answers("Later.")]);
  const component = {
    provider: "AssistantAgent",
    config: { name: "helper", description: "", model_client: client(models, "gpt-4o") },
  };
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  const { id } = (await created.json()) as { id: string };
  const response = await worker.fetch(`/v1/teams/${id}/runs`, {
    ...jsonInit({ task: "Say it." }),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  const reader = response.body!.getReader();
  const text = await readUntil(reader, /event: run\ndata: [^\n]*"next_attempt_at":"/);
  await reader.cancel();
  const data = /event: retrying\ndata: (.*)/.exec(text)?.[1] ?? "{}";
  const frame = JSON.parse(data) as RetryingFrame;
  expect(frame).toMatchObject({
    agent: "helper",
    attempt: 1,
    error: { type: "model_rate_limit" },
  });
  const wait = Date.parse(frame.next_attempt_at) - Date.now();
  expect(wait).toBeGreaterThan(60_000);
  const listed = await worker.fetch(`/v1/teams/${id}/runs`);
  const [run] = ((await listed.json()) as { runs: RunInfo[] }).runs;
  expect(run).toMatchObject({ status: "running", next_attempt_at: frame.next_attempt_at });
  await worker.fetch(`/v1/teams/${id}`, { method: "DELETE" });
});

test.each([false, true])("a fallback calls the next model (streamed: %s)", async (stream) => {
  models.rules.set([refuses(401, 1), answers("From the first.")]);
  others.rules.set([answers("From the second.")]);
  const model = `gpt-4o-${stream ? "streamed" : "whole"}`;
  const clients = [client(models, model), client(others, "gpt-4.1")];
  const before = models.requests.length;
  const run = await runWith(fallback(clients), stream);
  expect(run.status).toBe("completed");
  expect(said(run)).toBe("From the second.");
  expect(Object.keys(run.models)).toEqual(["gpt-4.1"]);
  expect(models.requests.length - before).toBe(1);
  // The one that failed is passed over for a while.
  expect(said(await runWith(fallback(clients), stream))).toBe("From the second.");
  expect(models.requests.length - before).toBe(1);
});

test("a text that broke off is void, and the next model's text takes its place", async () => {
  models.rules.set([
    {
      name: "cut",
      fault: { kind: "cut", after_chunks: 3 },
      reply: { content: "one two three four" },
    },
  ]);
  others.rules.set([answers("From the second.")]);
  const clients = [client(models, "gpt-4o-cut"), client(others, "gpt-4.1")];
  const run = await runWith(fallback(clients), true);
  expect(said(run)).toBe("From the second.");
});

test("a text that ended too early is followed by the next model's", async () => {
  models.rules.set([
    {
      name: "endless",
      fault: { kind: "unfinished", after_chunks: 3 },
      reply: { content: "one two three four" },
    },
  ]);
  others.rules.set([answers("From the second.")]);
  const before = models.requests.length;
  const clients = [client(models, "gpt-4o-endless"), client(others, "gpt-4.1")];
  expect(said(await runWith(fallback(clients), true))).toBe("From the second.");
  expect(models.requests.length - before).toBe(1);
});

test("a text that broke off is not an attempt at the list", async () => {
  models.rules.set([
    {
      name: "cut",
      fault: { kind: "cut", after_chunks: 3 },
      reply: { content: "one two three four" },
    },
  ]);
  others.rules.set([answers("From the second.")]);
  const clients = [client(models, "gpt-4o-once"), client(others, "gpt-4.1")];
  const run = await runWith(fallback(clients, { retry: { attempts: 1 } }), true);
  expect(said(run)).toBe("From the second.");
  // The maker of the first charges for what it has sent.
  expect(run.models).toMatchObject({
    "gpt-4o-once": { estimated_tokens: expect.any(Number) as number },
    "gpt-4.1": { completion_tokens: 3 },
  });
});

test.each([false, true])(
  "the tokens of an empty answer count when the next model answers (streamed: %s)",
  async (stream) => {
    const usage = { prompt_tokens: 700, completion_tokens: 30 };
    models.rules.set([{ name: "empty", reply: { content: "", usage } }]);
    others.rules.set([answers("From the second.")]);
    const first = `gpt-4o-empty-${stream ? "streamed" : "whole"}`;
    const clients = [client(models, first), client(others, "gpt-4.1")];
    const run = await runWith(fallback(clients), stream);
    expect(said(run)).toBe("From the second.");
    expect(run.models).toMatchObject({ [first]: usage, "gpt-4.1": { completion_tokens: 3 } });
    // And once where all answers are empty.
    others.rules.set([{ name: "empty", reply: { content: "", usage } }]);
    const failed = await runWith(fallback(clients, { retry: { attempts: 1 } }), stream);
    expect(failed).toMatchObject({
      status: "failed",
      error: { type: "model_empty_response" },
      models: { [first]: usage, "gpt-4.1": usage },
    });
  },
);

test("a text that breaks off once is shown again, and the tokens of its first part count", async () => {
  models.rules.set([
    {
      name: "cut",
      times: 1,
      fault: { kind: "cut", after_chunks: 3 },
      reply: { content: "one two three four" },
    },
    {
      name: "answer",
      reply: { content: "All of it.", usage: { prompt_tokens: 9, completion_tokens: 3 } },
    },
  ]);
  const component = {
    provider: "AssistantAgent",
    config: {
      name: "helper",
      description: "",
      model_client: client(models, "gpt-4o"),
      model_client_stream: true,
    },
  };
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  const { id } = (await created.json()) as { id: string };
  const response = await worker.fetch(`/v1/teams/${id}/runs`, {
    ...jsonInit({ task: "Say it." }),
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  const reader = response.body!.getReader();
  const stream = await readUntil(reader, /event: run\ndata: [^\n]*"status":"completed"/);
  await reader.cancel();
  const [before = "", after = ""] = stream.split("event: discard\n");
  expect(shownIn(before)).toMatch(/^one two/);
  expect(shownIn(after)).toBe("All of it.");
  const listed = await worker.fetch(`/v1/teams/${id}/runs`);
  const [run] = ((await listed.json()) as { runs: RunInfo[] }).runs;
  expect(run).toMatchObject({
    status: "completed",
    models: { "gpt-4o": { estimated_tokens: expect.any(Number) as number } },
  });
  expect(run?.models["gpt-4o"]?.completion_tokens).toBeGreaterThan(3);
});

/** The text that the pieces in a stream show. */
function shownIn(stream: string): string {
  return Array.from(stream.matchAll(/^data: (.*)$/gm), ([, data = ""]) => {
    const { type, content } = JSON.parse(data) as { type?: string; content?: string };
    return type === "ModelClientStreamingChunkEvent" ? (content ?? "") : "";
  }).join("");
}

test.each([false, true])(
  "a call of the second model that is cut off counts as its own (streamed: %s)",
  async (stream) => {
    models.rules.set([refuses(401, 1)]);
    others.rules.set([
      {
        name: "stall",
        fault: { kind: "stall", after_chunks: 2 },
        reply: { content: "one two three" },
      },
    ]);
    const first = `gpt-4o-cut-${stream ? "streamed" : "whole"}`;
    const component = {
      provider: "AssistantAgent",
      config: {
        name: "helper",
        description: "",
        model_client: fallback([client(models, first), client(others, "gpt-4.1")]),
        model_client_stream: stream,
      },
    };
    const created = await worker.fetch("/v1/teams", jsonInit({ component }));
    const { id: team } = (await created.json()) as { id: string };
    const before = others.requests.length;
    const started = await worker.fetch(`/v1/teams/${team}/runs`, jsonInit({ task: "Say it." }));
    const { id } = (await started.json()) as RunInfo;
    await others.log.until((requests) => requests.length > before);
    const path = `/v1/teams/${team}/runs/${id}`;
    await worker.fetch(`${path}/stop`, jsonInit({ mode: "now" }));
    const run = (await (await worker.fetch(path)).json()) as RunInfo;
    expect(run.status).toBe("cancelled");
    expect(Object.keys(run.models)).toEqual(["gpt-4.1"]);
  },
);

test("the list of models is tried again after a wait when the texts of all break off", async () => {
  const cut: RuleInput = {
    name: "cut",
    fault: { kind: "cut", after_chunks: 3 },
    reply: { content: "one two three four" },
  };
  models.rules.set([cut]);
  others.rules.set([cut]);
  const before = models.requests.length + others.requests.length;
  const clients = [client(models, "gpt-4o-both"), client(others, "gpt-4.1-both")];
  const run = await runWith(fallback(clients, { retry: { for_seconds: 1 } }), true);
  expect(run.status).toBe("failed");
  const asked = models.requests.length + others.requests.length - before;
  // Both at once, half a second later, and when the second is over.
  expect(asked).toBeGreaterThan(2);
  expect(asked).toBeLessThanOrEqual(8);
});

test("a client in a fallback has patience of its own if its config sets one", async () => {
  models.rules.set([refuses(503, 2, retries.SLOW), answers("From the first.")]);
  others.rules.set([answers("From the second.")]);
  const clients = [
    client(models, "gpt-4o-patient", { retry: { attempts: 3 } }),
    client(others, "gpt-4.1"),
  ];
  expect(said(await runWith(fallback(clients)))).toBe("From the first.");
  models.rules.set([refuses(503, 9, retries.SLOW), answers("From the first.")]);
  expect(said(await runWith(fallback(clients)))).toBe("From the second.");
});

test("the list of models is tried again by its own retry policy when all have failed", async () => {
  models.rules.set([refuses(503, 9, retries.SLOW)]);
  others.rules.set([refuses(503, 1, retries.SLOW), answers("From the second.")]);
  const clients = (suffix: string) => [
    client(models, `gpt-4o-${suffix}`),
    client(others, `gpt-4.1-${suffix}`),
  ];
  expect(said(await runWith(fallback(clients("list"))))).toBe("From the second.");
  others.rules.set([refuses(503, 9, retries.SLOW)]);
  const run = await runWith(fallback(clients("short"), { retry: { attempts: 2 } }));
  expect(run.status).toBe("failed");
  expect(run.error?.message).toMatch(/^All 2 model clients failed: 503/);
});
