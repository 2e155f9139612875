import { expect, test } from "vitest";
import {
  ComponentRegistry,
  dumpComponent,
  embeddingComponents,
  OpenAIEmbeddingClient,
} from "troupe";
import {
  type Misbehaviour,
  startEmbeddingServer,
  vectorOf,
} from "../../support/embedding-server.ts";

type Server = Awaited<ReturnType<typeof startEmbeddingServer>>;

function clientOf({ url }: Pick<Server, "url">, options: object = {}) {
  return new OpenAIEmbeddingClient({ model: "embedder", apiKey: "key", baseURL: url, ...options });
}

test("vectors come in the order of the texts, equal texts are sent once, and usage counts", async () => {
  await using server = await startEmbeddingServer();
  const client = clientOf(server, { defaultHeaders: { "x-tenant": "t" } });
  const { vectors, usage, model } = await client.embed(["tea", "boat", "tea"]);
  expect(vectors).toEqual(["tea", "boat", "tea"].map((text) => vectorOf(text, 8)));
  expect(server.requests).toEqual([{ model: "embedder", input: ["tea", "boat"] }]);
  expect(server.headers[0]).toMatchObject({ authorization: "Bearer key", "x-tenant": "t" });
  expect({ usage, model }).toEqual({
    usage: { prompt_tokens: 2, completion_tokens: 0 },
    model: "embedder",
  });
  await client.embed(["boat"]);
  expect(server.requests).toHaveLength(1);
});

test("the default is OpenAI's small model, and dimensions are requested", async () => {
  await using server = await startEmbeddingServer();
  const client = new OpenAIEmbeddingClient({ apiKey: "k", baseURL: server.url, dimensions: 4 });
  expect((await client.embed(["tea"])).vectors[0]).toHaveLength(4);
  expect(server.requests[0]).toEqual({
    model: "text-embedding-3-small",
    input: ["tea"],
    dimensions: 4,
  });
  expect(client.space).toMatch(/^127\.0\.0\.1:\d+\/text-embedding-3-small\/4$/);
});

test("another server may give vectors of its own length under the name of a model of OpenAI", async () => {
  await using server = await startEmbeddingServer(4);
  const client = new OpenAIEmbeddingClient({ apiKey: "k", baseURL: server.url });
  expect((await client.embed(["tea"])).vectors[0]).toHaveLength(4);
  const ofOpenAI = new OpenAIEmbeddingClient(
    { apiKey: "k" },
    { fetch: (_, init) => fetch(`${server.url}/embeddings`, init) },
  );
  await expect(ofOpenAI.embed(["tea"])).rejects.toThrow("4 numbers in embedding 0, and 1536");
});

test("a vector has at most 8,192 numbers", async () => {
  for (const [length, error] of [
    [8_192, undefined],
    [8_193, "8193 numbers in embedding 0, and at most 8192 are allowed"],
  ] as const) {
    await using server = await startEmbeddingServer(length);
    const answer = clientOf(server).embed(["tea"]);
    if (error === undefined) expect((await answer).vectors[0]).toHaveLength(length);
    else
      await expect(answer).rejects.toMatchObject({
        retryable: false,
        message: expect.stringContaining(error) as string,
      });
  }
});

test("requests stay within the server's limits: inputs, tokens, empty and long texts", async () => {
  await using server = await startEmbeddingServer();
  const client = clientOf(server);
  const many = Array.from({ length: 2100 }, (_, index) => `text ${index}`);
  expect((await client.embed(many)).vectors).toHaveLength(2100);
  expect(server.requests.map(({ input }) => input.length)).toEqual([2048, 52]);
  const long = Array.from({ length: 100 }, (_, index) => `${index} ${"word ".repeat(10_000)}`);
  expect((await client.embed(["", ...long])).vectors).toHaveLength(101);
});

test.each<[string, Misbehaviour, object]>([
  [
    "another dimension",
    { change: ({ data }) => void (data[0]!.embedding = [1, 2]) },
    {
      message: expect.stringMatching(/^dimensions: .* 2 numbers .*8 are expected/) as string,
      retryable: false,
    },
  ],
  [
    "fewer vectors",
    { change: ({ data }) => void data.pop() },
    {
      message: expect.stringContaining("1 vectors for 2 texts") as string,
    },
  ],
  [
    "no number",
    { change: ({ data }) => void (data[0]!.embedding = [1, null, "NaN"]) },
    {
      message: expect.stringContaining("embedding 1, position 1") as string,
    },
  ],
  [
    "no list",
    { body: '{"data":"none"}' },
    {
      message: expect.stringContaining("no list `data`") as string,
    },
  ],
  [
    "an index twice",
    { change: ({ data }) => void (data[0]!.index = 0) },
    {
      message: expect.stringContaining("data[1].index") as string,
    },
  ],
  ["broken JSON", { body: '{"data":[' }, { kind: "bad_response" }],
  ["an overloaded server", { status: 503 }, { kind: "server", retryable: true }],
  ["a wrong key", { status: 401 }, { kind: "auth", retryable: false }],
  ["no answer", { hangs: true }, { kind: "timeout", retryable: true }],
])("%s is a clear error", async (_, how, error) => {
  await using server = await startEmbeddingServer();
  const client = clientOf(server, { timeout: 0.2, dimensions: 8 });
  server.misbehave(how);
  await expect(client.embed(["tea", "boat"])).rejects.toMatchObject({
    name: "ModelError",
    ...error,
  });
});

const ONE = [1, 0.5];
const TWO = [0, -2];
const asBytes = (vector: number[]) =>
  Buffer.from(new Float32Array(vector).buffer).toString("base64");

test.each<[string, object]>([
  ["base64 in place of numbers", { data: [ONE, TWO].map((one) => ({ embedding: asBytes(one) })) }],
  ["null as index", { data: [ONE, TWO].map((embedding) => ({ embedding, index: null })) }],
  [
    "texts as index",
    {
      data: [
        { embedding: TWO, index: "1" },
        { embedding: ONE, index: "0" },
      ],
    },
  ],
  ["null between the entries", { data: [null, { embedding: ONE }, null, { embedding: TWO }] }],
  ["a list with each vector", { data: [{ embedding: [ONE] }, { embedding: [TWO] }] }],
  ["vectors without entries", { data: [ONE, TWO] }],
  ["only the vectors", { embeddings: [ONE, TWO] }],
  ["no object around the entries", [{ embedding: ONE }, { embedding: TWO }]],
])("an answer with %s is accepted", async (_, body) => {
  await using server = await startEmbeddingServer();
  server.misbehave({ body: JSON.stringify(body) });
  expect((await clientOf(server).embed(["tea", "boat"])).vectors).toEqual([ONE, TWO]);
});

test("a server that is down is a connection error", async () => {
  const server = await startEmbeddingServer();
  await server[Symbol.asyncDispose]();
  await expect(clientOf(server).embed(["tea"])).rejects.toMatchObject({ kind: "connection" });
});

test("a server without usage is counted by length", async () => {
  await using server = await startEmbeddingServer();
  server.misbehave({ change: (answer) => void delete answer.usage });
  expect(await clientOf(server).embed(["a text of 24 characters"])).toMatchObject({
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    usage_details: { estimate: { prompt_tokens: 6, completion_tokens: 0 } },
  });
});

test("a client is loaded from component JSON, dumped unchanged, and bad configs name the field", () => {
  const registry = new ComponentRegistry().register(...embeddingComponents());
  const model = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    component_type: "embedding",
    version: 1,
    component_version: 1,
    config: { model: "m", api_key: "env:KEY", base_url: "https://example.org/v1", dimensions: 256 },
  };
  expect(dumpComponent(registry.load(model, "embedding"))).toEqual(model);
  const wrong = { ...model, config: { dimensions: 0, base_url: "example.org" } };
  expect(registry.validate(wrong).map(({ path }) => path)).toEqual([
    "component.config.base_url",
    "component.config.dimensions",
  ]);
});
