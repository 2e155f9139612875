import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { startEmbeddingServer } from "../../../support/embedding-server.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { PATIENCE } from "../../../support/patience.ts";

// Memories over the API are found by their meaning where agents compare meanings. Texts with the same letters mean the same
// to the embedding server of these tests.

const model_info = {
  vision: false,
  function_calling: true,
  json_output: true,
  family: "unknown",
  structured_output: true,
};

const ACME = "acme-secret";
const GLOBEX = "globex-secret";

/** Where the Worker finds the embedding server. */
const EMBEDDINGS = "https://embeddings.example.com/v1";

interface Answer {
  http: number;
  id: string;
  mode?: string;
  note?: string;
  forgotten?: number;
  memories: { id: string; content: string; score?: number }[];
}

let worker: TestWorker;
let server: Awaited<ReturnType<typeof startEmbeddingServer>>;
let team: string;
let user: string;
let count = 0;

beforeAll(async () => {
  server = await startEmbeddingServer(32);
  const keys = [
    { hash: await sha256Hex(ACME), tenant: "acme", scopes: SCOPES },
    { hash: await sha256Hex(GLOBEX), tenant: "globex", scopes: SCOPES },
  ];
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify(keys),
      TENANT_REQUESTS_PER_SECOND: "10000",
      ALLOWED_EGRESS: new URL(EMBEDDINGS).host,
    },
    { outgoing: toServer },
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

beforeEach(() => {
  count++;
  [team, user] = [`team-${count}`, `ada-${count}`];
  server.misbehave(undefined);
  server.requests.length = 0;
  server.headers.length = 0;
});

async function toServer({ url, method, headers, body }: Request): Promise<Response> {
  const answer = await fetch(server.url + url.slice(EMBEDDINGS.length), {
    method,
    headers: { authorization: headers.get("authorization") ?? "" },
    body: await new Response(body).text(),
  });
  return new Response(await answer.text(), {
    status: answer.status,
    headers: { "content-type": "application/json" },
  });
}

async function send(
  method: string,
  path: string,
  body?: unknown,
  credential = ACME,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${credential}` };
  const init = body === undefined ? { method, headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  return { ...(text === "" ? {} : (JSON.parse(text) as object)), http: response.status } as Answer;
}

function agentWith(memory: object, key = "k"): object {
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "embedder", api_key: key, base_url: EMBEDDINGS, max_retries: 0 },
  };
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "helper",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: ["One.", "Two.", "Three.", "Four."], model_info },
      },
      memory: [{ provider: "troupe.memory.VectorMemory", config: { embedding, ...memory } }],
    },
  };
}

async function createTeam(id: string, memory: object, key?: string): Promise<void> {
  const created = await send("POST", "/v1/teams", { id, component: agentWith(memory, key) });
  expect(created.http).toBe(201);
}

async function run(id: string, task = "zzz"): Promise<void> {
  const done = await send("POST", `/v1/teams/${id}/runs?wait=60`, { task, user });
  expect(done).toMatchObject({ status: "completed" });
}

const list = (query: string, credential = ACME): Promise<Answer> =>
  send("GET", `/v1/memories?${query}`, undefined, credential);
const add = (body: object, credential = ACME): Promise<Answer> =>
  send("POST", "/v1/memories", body, credential);

/** How often each text was embedded. */
function embedded(text: string): number {
  return server.requests.flatMap(({ input }) => input).filter((one) => one === text).length;
}

function contents({ memories }: Answer): string[] {
  return memories.map(({ content }) => content);
}

/** Searches until the answer has these contents. */
async function found(query: string, expected: readonly string[]): Promise<Answer> {
  return vi.waitFor(async () => {
    const answer = await list(query);
    expect(contents(answer)).toEqual(expected);
    return answer;
  }, PATIENCE);
}

describe.each(["team", "user", "tenant"] as const)("memories of the scope %s", (scope) => {
  const place = (): object => ({
    scope,
    ...(scope === "team" && { team }),
    ...(scope === "user" && { user }),
  });
  const query = (q: string): string =>
    `${new URLSearchParams(place() as Record<string, string>).toString()}&limit=1&q=${q}`;

  test("are found by their meaning, also those that a person adds and corrects", async () => {
    await createTeam(team, { scope });
    await add({ ...place(), content: "listen" });
    await run(team);
    const answer = await found(query("silent"), ["listen"]);
    expect(answer).toMatchObject({ mode: "hybrid" });
    expect(answer.note).toBeUndefined();
    expect(answer.memories[0]?.score).toBeCloseTo(1, 3);

    const { id } = await add({ ...place(), content: "dusty" });
    await found(query("study"), ["dusty"]);
    expect((await send("PATCH", `/v1/memories/${id}`, { content: "night" })).http).toBe(200);
    await found(query("thing"), ["night"]);
    expect((await send("PATCH", `/v1/memories/${id}`, { metadata: { a: 1 } })).http).toBe(200);
    await found(query("thing"), ["night"]);
    for (const text of ["listen", "dusty", "night"]) {
      expect(embedded(text)).toBe(1);
    }
  });
});

test("facts that a run has stored are found by their meaning, without a later run", async () => {
  const component = agentWith({ scope: "user", writable: true }) as {
    config: { model_client: { config: { chat_completions: unknown[] } } };
  };
  const call = { id: "1", name: "remember", arguments: JSON.stringify({ content: "listen" }) };
  component.config.model_client.config.chat_completions = [
    {
      finish_reason: "function_calls",
      content: [call],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
      cached: false,
    },
  ];
  expect((await send("POST", "/v1/teams", { id: team, component })).http).toBe(201);
  await run(team);
  expect(await found(`user=${user}&q=silent`, ["listen"])).toMatchObject({ mode: "hybrid" });
});

test("an embedding server that is down leaves search by words and a note, and additions are embedded later", async () => {
  await createTeam(team, { scope: "user" });
  await add({ user, content: "listen" });
  await run(team);
  await found(`user=${user}&q=silent`, ["listen"]);
  server.misbehave({ status: 503 });
  const words = await list(`user=${user}&q=listen to it`);
  expect(words).toMatchObject({ http: 200, mode: "words" });
  expect(words.note).toContain("Words only: the question could not be embedded");
  expect(contents(words)).toEqual(["listen"]);
  await add({ user, content: "dusty" });
  await vi.waitFor(() => expect(embedded("dusty")).toBeGreaterThan(0), PATIENCE);
  expect(contents(await list(`user=${user}&q=dusty`))).toEqual(["dusty"]);
  server.misbehave(undefined);
  await found(`user=${user}&limit=1&q=study`, ["dusty"]);
});

test("an embedding server that answers another dimension leaves search by words and a note", async () => {
  await createTeam(team, { scope: "user" });
  await add({ user, content: "listen" });
  await run(team);
  await found(`user=${user}&q=silent`, ["listen"]);
  server.misbehave({
    change: ({ data }) => {
      for (const one of data) one.embedding = [1, 2, 3];
    },
  });
  const words = await list(`user=${user}&q=listen to it`);
  expect(words).toMatchObject({
    mode: "words",
    note: "Words only: the embedding server gave 3 numbers, and the entries have 32.",
  });
  await add({ user, content: "dusty" });
  await vi.waitFor(() => expect(embedded("dusty")).toBe(1), PATIENCE);
  server.misbehave(undefined);
  // The next run that compares meanings has it embedded again.
  await run(team);
  await found(`user=${user}&limit=1&q=study`, ["dusty"]);
});

test("an entry that is erased while it is embedded does not come back, and the embedding server gets no further request", async () => {
  await createTeam(team, { scope: "user" });
  await add({ user, content: "listen" });
  await run(team);
  await found(`user=${user}&q=silent`, ["listen"]);
  const answers = Promise.withResolvers<void>();
  server.misbehave({ after: answers.promise });
  await add({ user, content: "dusty" });
  await vi.waitFor(() => expect(embedded("dusty")).toBe(1), PATIENCE);
  expect(await send("DELETE", `/v1/memories?user=${user}`)).toMatchObject({ forgotten: 2 });
  answers.resolve();
  server.misbehave(undefined);
  await add({ user, content: "night" });
  expect(await list(`user=${user}&q=thing`)).toMatchObject({ mode: "words", memories: [] });
  expect(contents(await list(`user=${user}`))).toEqual(["night"]);
  expect([embedded("night"), embedded("thing")]).toEqual([0, 0]);
});

test("the embedding clients of the tenant's own teams embed its memories, with the keys that they have now", async () => {
  const keys = (): Set<unknown> => new Set(server.headers.map((one) => one.authorization));
  await createTeam(team, { scope: "user" }, "first");
  // Another team of the tenant, whose key is for the memories of its own.
  await createTeam(`${team}-own`, { scope: "team" }, "own");
  await add({ user, content: "listen" });
  await run(`${team}-own`);
  await run(team);
  await found(`user=${user}&q=silent`, ["listen"]);

  server.requests.length = 0;
  expect((await add({ user, content: "listen" }, GLOBEX)).http).toBe(201);
  expect(await list(`user=${user}&q=tinsel`, GLOBEX)).toMatchObject({ mode: "words" });
  expect(server.requests).toEqual([]);

  server.headers.length = 0;
  const component = agentWith({ scope: "user" }, "second");
  await send("PUT", `/v1/teams/${team}/component`, { component });
  await found(`user=${user}&q=enlist`, ["listen"]);
  expect(keys()).toEqual(new Set(["Bearer second"]));

  server.requests.length = 0;
  expect((await send("DELETE", `/v1/teams/${team}`)).http).toBe(204);
  expect(await list(`user=${user}&q=inlets`)).toMatchObject({ mode: "words", memories: [] });
  expect(server.requests).toEqual([]);
});

test("another team embeds when the first one is gone", async () => {
  await createTeam(team, { scope: "user" });
  await createTeam(`${team}-too`, { scope: "user" }, "too");
  await add({ user, content: "listen" });
  await run(team);
  await run(`${team}-too`);
  await found(`user=${user}&q=silent`, ["listen"]);
  await send("DELETE", `/v1/teams/${team}`);
  expect(await list(`user=${user}&q=enlist`)).toMatchObject({
    mode: "hybrid",
    memories: [{ content: "listen" }],
  });
});

test("a fork embeds the entries that its team has not embedded yet", async () => {
  await createTeam(team, {});
  await run(team);
  server.misbehave({ status: 503 });
  await add({ team, content: "listen" });
  await vi.waitFor(() => expect(embedded("listen")).toBeGreaterThan(0), PATIENCE);
  expect((await send("POST", `/v1/teams/${team}/fork`, { id: `${team}-fork` })).http).toBe(201);
  server.misbehave(undefined);
  await found(`team=${team}-fork&q=silent`, ["listen"]);
  await found(`team=${team}&q=silent`, ["listen"]);
});

test("a memory without an agent that compares meanings has no embeddings", async () => {
  await createTeam(team, { scope: "user", embedding: null });
  await run(team);
  await add({ user, content: "listen" });
  await run(team, "listen");
  expect(await list(`user=${user}&q=listen`)).toMatchObject({ mode: "words" });
  expect((await list(`user=${user}&q=silent`)).note).toBeUndefined();
  expect(server.requests).toEqual([]);
});
