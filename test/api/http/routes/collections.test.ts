import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { jsonInit } from "../../../support/http-app.ts";
import { startEmbeddingServer } from "../../../support/embedding-server.ts";
import { pdfOf } from "../../../support/pdf.ts";
import { TestWorker } from "../../../support/worker.ts";

const HANDBOOK = `# Handbook

## Holidays

Everyone has 30 days of holidays a year.

## Coffee

The machine is cleaned on Fridays.
`;

interface DocumentAnswer {
  id: string;
  title: string | null;
  status: string;
  chunks: number;
  embedded: number;
  error: string | null;
}

interface SearchAnswer {
  results: { document: string; heading: string | null; page: number | null; content: string }[];
  mode: string;
  note?: string;
}

let worker: TestWorker;
let server: Awaited<ReturnType<typeof startEmbeddingServer>>;
let collection: string;
let count = 0;

beforeAll(async () => {
  server = await startEmbeddingServer();
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

beforeEach(() => {
  collection = `handbook-${++count}`;
  server.misbehave(undefined);
  server.requests.length = 0;
});

async function ask<T>(method: string, path: string, body?: unknown): Promise<T & { http: number }> {
  const init = body === undefined ? { method } : jsonInit(body, method);
  const response = await worker.fetch(`/v1/collections${path}`, init);
  const text = await response.text();
  return { ...(text === "" ? ({} as T) : (JSON.parse(text) as T)), http: response.status };
}

function embedding(config: object = {}): object {
  return {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "small", base_url: server.url, api_key: "secret-key", ...config },
  };
}

const RETRY = { retry: { attempts: 2, for_seconds: 1 } };

function create(component: object | null = null): Promise<{ http: number }> {
  return ask("PUT", `/${collection}`, { description: "For staff.", embedding: component });
}

async function put(
  id: string,
  content: string | Uint8Array<ArrayBuffer>,
  type = "text/markdown",
  query = "",
): Promise<DocumentAnswer & { http: number }> {
  const response = await worker.fetch(`/v1/collections/${collection}/documents/${id}${query}`, {
    method: "PUT",
    headers: { "content-type": type },
    body: content,
  });
  return { ...((await response.json()) as DocumentAnswer), http: response.status };
}

/** The document once it is embedded, or that has failed. */
async function settled(id: string): Promise<DocumentAnswer> {
  return expect
    .poll(() => ask<DocumentAnswer>("GET", `/${collection}/documents/${id}`), { interval: 20 })
    .toMatchObject({ status: expect.stringMatching(/^(ready|failed)$/) })
    .then(() => ask<DocumentAnswer>("GET", `/${collection}/documents/${id}`));
}

function search(q: string, more: object = {}): Promise<SearchAnswer & { http: number }> {
  return ask("POST", `/${collection}/search`, { q, ...more });
}

describe("a collection without an embedding", () => {
  test("returns the parts of a document from any position", async () => {
    await create();
    await put("guide.md", HANDBOOK);
    const path = `/${collection}/documents/guide.md/chunks`;
    const [holidays, coffee] = [
      { chunk: 0, heading: "Handbook > Holidays", page: null },
      { chunk: 1, heading: "Handbook > Coffee", page: null },
    ];
    const first = await ask<object>("GET", `${path}?limit=1`);
    expect(first).toMatchObject({ chunks: [holidays], next_from: 1 });
    const second = await ask<object>("GET", `${path}?from=1&limit=1`);
    const content = "The machine is cleaned on Fridays.";
    expect(second).toMatchObject({ chunks: [{ ...coffee, content }], next_from: null });
    expect(await ask("GET", `${path}?from=9`)).toMatchObject({ chunks: [], next_from: null });
    expect(await ask("GET", `${path}?from=-1`)).toMatchObject({ http: 422 });
    expect(await ask("GET", `/${collection}/documents/none/chunks`)).toMatchObject({ http: 404 });
  });

  test("stores the parts of a document as they are given", async () => {
    await create();
    const chunks = [
      { heading: "Handbook > Coffee", page: 3, content: "Cleaned on Fridays." },
      { heading: null, page: null, content: "By all of us." },
    ];
    const path = `/${collection}/documents/guide.pdf`;
    const body = { title: "Guide", mime_type: "application/pdf", chunks };
    expect(await ask("PUT", path, body)).toMatchObject({ http: 202, title: "Guide", chunks: 2 });
    expect(await ask("GET", `${path}/chunks`)).toMatchObject({
      chunks: chunks.map((one, chunk) => ({ chunk, ...one })),
    });
    for (const [wrong, place] of [
      [{ mime_type: "text/plain" }, "content"],
      [{ mime_type: "text/plain", content: "Both.", chunks }, "content"],
      [{ mime_type: "text/plain", chunks: [] }, "chunks"],
      [{ mime_type: "text/plain", chunks: [{ content: "" }] }, "chunks[0].content"],
    ] as const) {
      expect(await ask("PUT", path, wrong)).toMatchObject({ http: 422, errors: [{ path: place }] });
    }
  });

  test("finds parts of documents by their words, and reports that it did", async () => {
    expect(await create()).toMatchObject({ http: 201, documents: 0, embedding: null });
    expect(await create()).toMatchObject({ http: 200 });
    const stored = await put("guide", HANDBOOK);
    expect(stored).toMatchObject({ http: 202, title: "Handbook", status: "ready", chunks: 2 });
    const found = await search("How many holidays do I have?", { k: 1 });
    expect(found).toMatchObject({
      mode: "words",
      note: expect.stringContaining("no embedding"),
      results: [
        {
          document: "guide",
          chunk: 0,
          heading: "Handbook > Holidays",
          page: null,
          content: "Everyone has 30 days of holidays a year.",
        },
      ],
    });
  });

  test("takes HTML, text and JSON, filters by metadata, and lists", async () => {
    await create();
    await put("page", "<title>Rules</title><h1>Bikes</h1><p>Park outside.", "text/html");
    await put(
      "note",
      "Bikes are blue.",
      "text/plain; charset=utf-8",
      "?title=Note&metadata.team=red",
    );
    const json = {
      title: null,
      mime_type: "text/plain",
      content: "Bikes are fast.",
      metadata: { team: "green" },
    };
    expect(await ask("PUT", `/${collection}/documents/json`, json)).toMatchObject({
      http: 202,
      title: null,
      metadata: { team: "green" },
    });
    const all = await search("bikes");
    expect(all.results.map(({ document }) => document).toSorted()).toEqual([
      "json",
      "note",
      "page",
    ]);
    const green = await search("bikes", { filter: { team: ["green", "yellow"] } });
    expect(green.results.map(({ document }) => document)).toEqual(["json"]);
    const first = await ask<{ documents: DocumentAnswer[]; next_cursor: string }>(
      "GET",
      `/${collection}/documents?limit=2`,
    );
    expect(first.documents.map(({ id }) => id)).toEqual(["json", "note"]);
    const rest = await ask("GET", `/${collection}/documents?limit=2&cursor=${first.next_cursor}`);
    expect(rest).toMatchObject({ documents: [{ id: "page", title: "Rules" }], next_cursor: null });
    const listed = await ask<{ collections: { id: string }[] }>("GET", "");
    expect(listed.collections).toContainEqual(
      expect.objectContaining({ id: collection, documents: 3, description: "For staff." }),
    );
  });

  test("replaces a document as a whole and forgets deleted ones", async () => {
    await put("guide", HANDBOOK);
    await put("guide", "# Handbook\n\nAsk Ada about tea.");
    expect((await search("holidays")).results).toEqual([]);
    expect((await search("tea")).results).toHaveLength(1);
    expect(await ask("DELETE", `/${collection}/documents/guide`)).toMatchObject({ http: 204 });
    expect((await search("tea")).results).toEqual([]);
    expect(await ask("GET", `/${collection}/documents/guide`)).toMatchObject({ http: 404 });
    expect(await ask("DELETE", `/${collection}`)).toMatchObject({ http: 204 });
    expect(await search("tea")).toMatchObject({ http: 404, code: "collection_not_found" });
    const { collections } = await ask<{ collections: { id: string }[] }>("GET", "");
    expect(collections.map(({ id }) => id)).not.toContain(collection);
  });
});

describe("an embedding", () => {
  test("is made in the background, once for each text, and is not shown with its key", async () => {
    const made = await create(embedding());
    expect(JSON.stringify(made)).not.toContain("secret-key");
    await put("guide", HANDBOOK);
    expect(await settled("guide")).toMatchObject({ status: "ready", chunks: 2, embedded: 2 });
    expect(server.requests.flatMap(({ input }) => input)).toHaveLength(2);
    const changed = HANDBOOK.replace("Fridays", "Mondays");
    await put("guide", changed);
    expect(await settled("guide")).toMatchObject({ status: "ready", embedded: 2 });
    await put("copy", changed);
    await settled("copy");
    const texts = server.requests.flatMap(({ input }) => input);
    expect(texts).toHaveLength(3);
    expect(texts[2]).toContain("Mondays");
    const found = await search("holidays");
    expect(found).toMatchObject({ mode: "hybrid" });
    expect(found).not.toHaveProperty("note");
    expect(server.headers.at(-1)?.["authorization"]).toBe("Bearer secret-key");
  });

  test("that changes reports how to embed again, and does it", async () => {
    await create(embedding());
    await put("guide", HANDBOOK);
    await settled("guide");
    expect(await create(embedding({ dimensions: 4 }))).toMatchObject({
      http: 200,
      embedded: 0,
      note: expect.stringContaining(`POST /v1/collections/${collection}/embed`),
    });
    expect(await search("holidays")).toMatchObject({
      mode: "words",
      note: expect.stringContaining("/embed"),
      results: [{ document: "guide" }],
    });
    expect(await ask("POST", `/${collection}/embed`)).toMatchObject({ http: 202 });
    await settled("guide");
    expect(await search("holidays")).toMatchObject({ mode: "hybrid" });
  });

  test("that replaces a failing one embeds the waiting texts once", async () => {
    server.misbehave({ status: 503 });
    await create(embedding());
    await put("guide", HANDBOOK);
    await expect.poll(() => server.requests.length).toBeGreaterThan(0);
    server.misbehave(undefined);
    server.requests.length = 0;
    await create(embedding({ dimensions: 4 }));
    expect(await settled("guide")).toMatchObject({ status: "ready", chunks: 2, embedded: 2 });
    expect(server.requests.map(({ input, dimensions }) => [input.length, dimensions])).toEqual([
      [2, 4],
    ]);
    expect(await search("holidays")).toMatchObject({ mode: "hybrid" });
  });

  test("that is requested again does not fail because of an earlier attempt", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.misbehave({ status: 400, after: promise });
    await create(embedding());
    await put("guide", HANDBOOK);
    await expect.poll(() => server.requests.length).toBe(1);
    server.misbehave(undefined);
    expect(await ask("POST", `/${collection}/embed`)).toMatchObject({ http: 202 });
    resolve();
    expect(await settled("guide")).toMatchObject({ status: "ready", embedded: 2, error: null });
  });

  test("whose server gives vectors of another length is embedded again, and back", async () => {
    await create(embedding({ model: "unnamed" }));
    await put("guide", HANDBOOK);
    await settled("guide");
    for (const length of [2, 8]) {
      const shorter = (answer: { data: { embedding: unknown }[] }): void => {
        for (const one of answer.data) one.embedding = (one.embedding as number[]).slice(0, length);
      };
      server.misbehave({ change: shorter });
      expect(await search("holidays")).toMatchObject({
        mode: "words",
        note: expect.stringMatching(`gave ${length} numbers .* POST /v1/collections/.*/embed`),
      });
      await put("late", `# Late\n\nAdded when vectors had ${length} numbers.`);
      expect(await settled("late")).toMatchObject({ status: "failed" });
      expect(await ask("GET", `/${collection}`)).toMatchObject({
        note: expect.stringMatching('^Words only for "late": The embedding server'),
      });
      server.requests.length = 0;
      expect(await ask("POST", `/${collection}/embed`)).toMatchObject({ http: 202, embedded: 0 });
      expect(await settled("guide")).toMatchObject({ error: null, status: "ready", embedded: 2 });
      expect(await settled("late")).toMatchObject({ status: "ready", error: null });
      expect(await search("holidays")).toMatchObject({ mode: "hybrid" });
      // The same embedding again embeds nothing again.
      await create(embedding({ model: "unnamed" }));
      server.requests.length = 0;
      await ask("POST", `/${collection}/embed`);
      expect(await ask("GET", `/${collection}`)).toMatchObject({ embedded: 3, note: null });
      expect(server.requests.map(({ input }) => input)).toEqual([[collection]]);
    }
  });

  test("gives parts the score of their similarity, as the threshold of a memory compares it", async () => {
    await create(embedding());
    await put("guide", HANDBOOK);
    await settled("guide");
    const asked = "Handbook > Holidays\n\nEveryone has 30 days of holidays a year.";
    const { results } = await search(asked, { k: 1 });
    expect(results).toMatchObject([{ chunk: 0, score: expect.closeTo(1, 5) }]);
  });

  test.for([
    ["is down", { status: 503 }, RETRY, "503"],
    ["answers garbage", { body: "<html>" }, RETRY, "embedding"],
    [
      "answers another dimension",
      {
        change: (answer: { data: { embedding: unknown }[] }) => {
          for (const one of answer.data) one.embedding = [1, 2];
        },
      },
      { dimensions: 8 },
      "dimensions",
    ],
    ["is slow", { hangs: true }, { ...RETRY, timeout: 0.2 }, "too long"],
  ] as const)(
    "whose server %s fails with a reason, while search by words works and embed continues",
    async ([, how, config, reason]) => {
      await create(embedding(config));
      server.misbehave(how);
      await put("guide", HANDBOOK);
      const failed = await settled("guide");
      expect(failed).toMatchObject({ status: "failed", embedded: 0 });
      expect(failed.error?.toLowerCase()).toContain(reason);
      expect(failed.error).toContain("/embed");
      expect(await search("holidays")).toMatchObject({
        mode: "words",
        results: [{ document: "guide" }],
      });
      server.misbehave(undefined);
      await ask("POST", `/${collection}/embed`);
      expect(await settled("guide")).toMatchObject({ status: "ready", embedded: 2, error: null });
    },
  );
});

describe("a request to a collection is refused", () => {
  test("if it brings an unreadable document, with the reason", async () => {
    await create();
    expect(await put("a", "  ", "text/plain")).toMatchObject({ http: 422, code: "empty_document" });
    expect(await put("a", "Hi", "application/pdf")).toMatchObject({
      http: 422,
      code: "unreadable_document",
    });
    expect(await put("a", new Uint8Array(pdfOf("Text.")), "application/pdf")).toMatchObject({
      http: 422,
      code: "no_extractor",
      detail: expect.stringContaining("troupe/documents"),
    });
    expect(await put("a", "x", "image/png")).toMatchObject({ http: 415 });
    expect(await put("a", "x".repeat(20_000_001), "text/plain")).toMatchObject({ http: 413 });
    expect(await ask("GET", `/${collection}/documents/a`)).toMatchObject({ http: 404 });
    expect(await ask("GET", `/${collection}`)).toMatchObject({ documents: 0 });
  });

  test("if its component is not an embedding client, at its place", async () => {
    const model = {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: [] },
    };
    expect(await create(model)).toMatchObject({
      http: 422,
      errors: [{ path: expect.stringMatching(/^embedding/) }],
    });
    expect(await create({ provider: "nothing.Here", config: {} })).toMatchObject({ http: 422 });
    expect(await ask("GET", `/${collection}`)).toMatchObject({ http: 404 });
  });

  test("if it names something that does not exist", async () => {
    expect(await search("x")).toMatchObject({ http: 404, code: "collection_not_found" });
    expect(await ask("DELETE", `/${collection}`)).toMatchObject({ http: 404 });
    expect(await ask("POST", `/${collection}/embed`)).toMatchObject({ http: 404 });
    await create();
    expect(await ask("POST", `/${collection}/embed`)).toMatchObject({
      http: 409,
      code: "no_embedding",
    });
    expect(await put("bad%2Fid", "text")).toMatchObject({ http: 404 });
    expect(await search("", { k: 101, filter: { team: { red: true } } })).toMatchObject({
      http: 422,
      errors: [
        { path: "q", message: "must be a text of 1 to 10000 characters" },
        { path: "k", message: "must be a whole number from 1 to 100" },
        {
          path: "filter.team",
          message: "must be a text, a number or a boolean, or a list of them",
        },
      ],
    });
    expect(await ask("PUT", `/${collection}/documents/guide`, { title: "" })).toMatchObject({
      http: 422,
      errors: [
        { path: "title", message: "must be a text of 1 to 500 characters" },
        { path: "mime_type", message: "must be a text of 1 to 200 characters" },
      ],
    });
  });
});

test("a stored key is returned redacted and kept, but not for another server", async () => {
  await create(embedding());
  const shown = await ask<{ embedding: { config: object } }>("GET", `/${collection}`);
  expect(shown.embedding.config).toMatchObject({ api_key: "**********" });
  const again = { description: "Changed.", embedding: shown.embedding };
  expect(await ask("PUT", `/${collection}`, again)).toMatchObject({ http: 200 });
  await put("guide", HANDBOOK);
  expect(await settled("guide")).toMatchObject({ status: "ready" });
  expect(server.headers.at(-1)?.["authorization"]).toBe("Bearer secret-key");
  const config = { ...shown.embedding.config, base_url: "https://elsewhere.example/v1" };
  const moved = { embedding: { ...shown.embedding, config } };
  const message = expect.stringContaining("where embedding.config.base_url is another") as string;
  expect(await ask("PUT", `/${collection}`, moved)).toMatchObject({
    http: 422,
    errors: [{ path: "embedding.config.api_key", message }],
  });
});
