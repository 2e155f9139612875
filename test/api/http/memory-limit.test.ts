import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbeddingServer } from "../../support/embedding-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

/** Empty tables of memories take less, and a few large contents more. */
const MOST_BYTES = 400_000;

const LARGE = "A long story. ".repeat(7_000);

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({
    MAX_MEMORY_BYTES: String(MOST_BYTES),
    VECTORIZE_ABOVE: "1",
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

interface Answer {
  status: number;
  body: {
    id: string;
    code?: string;
    detail?: string;
    limit?: string;
    notes?: unknown[];
    memories?: { content: string }[];
    messages: { type: string; content: { content: string; is_error: boolean }[] }[];
  };
}

async function send(method: string, path: string, given?: unknown): Promise<Answer> {
  const init = given === undefined ? { method } : jsonInit(given, method);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  const { status } = response;
  return { status, body: JSON.parse(text === "" ? "{}" : text) as Answer["body"] };
}

/** Adds large contents until one is refused. */
async function fill(user: string): Promise<{ ids: string[]; refused: Answer }> {
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) {
    const added = await send("POST", "/v1/memories", { scope: "user", user, content: LARGE });
    if (added.status !== 201) return { ids, refused: added };
    ids.push(added.body.id);
  }
  throw new Error("nothing was refused");
}

const replay = (answers: unknown[]): object => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: {
    chat_completions: answers,
    model_info: {
      vision: false,
      function_calling: true,
      json_output: true,
      family: "unknown",
      structured_output: true,
    },
  },
});

function agentWith(memory: object, answers: unknown[]): object {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "friend",
      model_client: replay(answers),
      max_tool_iterations: 2,
      memory: [{ provider: "troupe.memory.VectorMemory", config: { scope: "user", ...memory } }],
    },
  };
}

test("a full memory refuses additions and corrections until an entry is deleted", async () => {
  const { ids, refused } = await fill("ada");
  expect(ids.length).toBeGreaterThan(1);
  const full = { status: 507, body: { code: "too_many_stored_bytes", limit: "max_memory_bytes" } };
  expect(refused).toMatchObject(full);
  expect(refused.body.detail).toContain("MAX_MEMORY_BYTES");
  const path = `/v1/memories/${ids[0]}`;
  expect(await send("PATCH", path, { content: LARGE })).toMatchObject(full);
  for (const id of ids) {
    expect(await send("DELETE", `/v1/memories/${id}`)).toMatchObject({ status: 204 });
  }
  const again = { scope: "user", user: "ada", content: "A short one." };
  expect(await send("POST", "/v1/memories", again)).toMatchObject({ status: 201 });
});

test("a model whose memory is full reads the reason, and a run that learns has a note", async () => {
  await fill("bob");
  const call = {
    content: [{ id: "1", name: "remember", arguments: '{"content":"Bob has a cat."}' }],
    finish_reason: "function_calls",
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  };
  const asked = agentWith({ writable: true }, [call, "I cannot remember it."]);
  expect(await send("POST", "/v1/teams", { id: "asking", component: asked })).toMatchObject({
    status: 201,
  });
  await send("POST", "/v1/teams/asking/runs?wait=60", { task: "I have a cat.", user: "bob" });
  const { messages } = (await send("GET", "/v1/teams/asking/messages")).body;
  const results = messages.find(({ type }) => type === "ToolCallExecutionEvent")?.content;
  expect(results).toMatchObject([
    { is_error: true, content: expect.stringContaining("MAX_MEMORY_BYTES") },
  ]);
  const learning = agentWith(
    { extract: { model_client: replay(['{"facts": ["Bob is tall."]}']) } },
    ["Hello."],
  );
  await send("POST", "/v1/teams", { id: "learning", component: learning });
  const run = await send("POST", "/v1/teams/learning/runs?wait=60", {
    task: "I am tall.",
    user: "bob",
  });
  expect(JSON.stringify(run.body.notes)).toContain("MAX_MEMORY_BYTES");
});

test("a run whose memory is full and has too many vectors has a note on each", async () => {
  await using embeddings = await startEmbeddingServer();
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "small", base_url: embeddings.url, api_key: "key" },
  };
  const learning = (fact: string): object =>
    agentWith({ embedding, extract: { model_client: replay([`{"facts": ["${fact}"]}`]) } }, [
      "Hello.",
    ]);
  const run = async (id: string, fact: string): Promise<string> => {
    await send("POST", "/v1/teams", { id, component: learning(fact) });
    const { body } = await send("POST", `/v1/teams/${id}/runs?wait=60`, {
      task: fact,
      user: "eve",
    });
    return JSON.stringify(body.notes ?? []);
  };
  expect(await run("first", "Eve has a dog.")).toBe("[]");
  expect(await run("second", "Eve has a horse.")).toBe("[]");
  await fill("eve");
  const notes = await run("third", "Eve has a cat.");
  expect(notes).toMatch(/\d vectors, more than 1/);
  expect(notes).toContain("MAX_MEMORY_BYTES");
  const { body } = await send("GET", "/v1/memories?scope=user&user=eve");
  const contents = body.memories?.map(({ content }) => content) ?? [];
  expect(contents.filter((content) => content.startsWith("Eve"))).toEqual([
    "Eve has a horse.",
    "Eve has a dog.",
  ]);
});

test("an entry that does not exist is not found, also in a full memory", async () => {
  const { ids } = await fill("kim");
  const path = `/v1/memories/${ids[0]}`;
  await send("DELETE", path);
  await send("POST", "/v1/memories", { scope: "user", user: "kim", content: LARGE });
  expect(await send("PATCH", path, { content: "Shorter." })).toMatchObject({ status: 404 });
});

test("a full collection takes no more documents", async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 12; n++) {
    const path = `/v1/collections/tales/documents/tale-${n}`;
    const put = await send("PUT", path, { mime_type: "text/plain", content: LARGE });
    statuses.push(put.status);
  }
  expect(statuses[0]).toBe(202);
  expect(statuses.at(-1)).toBe(507);
});
