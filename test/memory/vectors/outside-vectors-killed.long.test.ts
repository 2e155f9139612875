import { expect, test } from "vitest";
import { startEmbeddingServer } from "../../support/embedding-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { KillableWorker } from "../../support/killable-worker.ts";
import { startVectorizeServer } from "../../support/vectorize-server.ts";

const SECTIONS = 90;
const ABOVE = 30;
/** Letters in other shares, so that the vectors of the embedding server differ. */
const WORDS = Array.from({ length: SECTIONS }, (_, n) => {
  const step = 7 + 2 * Math.floor(n / 26);
  return Array.from({ length: 12 }, (_unused, place) => letter(n + place * place * step)).join("");
});

function letter(n: number): string {
  return String.fromCharCode(97 + (n % 26));
}

interface Found {
  results: { document: string; content: string }[];
  mode: string;
  note?: string;
}

test("a collection above the bound is searched by Vectorize, over kills of the server, and leaves nothing there", async () => {
  await using embeddings = await startEmbeddingServer(26);
  await using vectorize = await startVectorizeServer(26);
  const settings = { SECRETS_KEY: btoa("k".repeat(32)), VECTORIZE_ABOVE: String(ABOVE) };
  await using worker = await KillableWorker.start(settings, { vectorize: vectorize.url });
  const { index } = vectorize;
  const collection = "/v1/collections/handbook";
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "small", base_url: embeddings.url, api_key: "key" },
  };
  const search = async (word: string): Promise<Found> => {
    const response = await worker.fetch(`${collection}/search`, jsonInit({ q: word, k: 1 }));
    expect(response.status).toBe(200);
    return (await response.json()) as Found;
  };
  const documents = `${collection}/documents`;
  const put = async (id: string, text: string): Promise<void> => {
    const document = { mime_type: "text/markdown", content: text };
    const response = await worker.fetch(`${documents}/${id}`, jsonInit(document, "PUT"));
    expect(response.status).toBe(202);
  };
  const shows = (count: number) =>
    expect
      .poll(
        () => {
          index.pass(11_000);
          return [index.visible.length, index.written.length];
        },
        { interval: 100 },
      )
      .toEqual([count, count]);
  await worker.fetch(collection, jsonInit({ embedding }, "PUT"));

  // The answer to the first write is lost, and the server is killed.
  index.trouble = { method: "upsert", losesAnswer: true };
  const content = WORDS.map((word) => `# ${word}\n\n${word}\n\n`).join("");
  await put("guide", content);
  await expect.poll(() => index.written.length, { interval: 20 }).toBeGreaterThan(0);
  await worker.kill();
  index.trouble = undefined;
  await worker.restart();
  await shows(SECTIONS - Math.floor(ABOVE * 0.98));
  expect(new Set(index.visible.map(({ namespace }) => namespace)).size).toBe(1);

  // The vectors are asked for there, and the text is here.
  await expect
    .poll(async () => {
      await search(WORDS[1] ?? "");
      return index.calls.filter(({ method }) => method === "query").length;
    })
    .toBeGreaterThan(0);
  for (const word of [WORDS[1], WORDS[40], WORDS[SECTIONS - 1]] as string[]) {
    const found = await search(word);
    expect(found).toMatchObject({ mode: "hybrid", results: [{ content: word }] });
    expect(found.note).toBeUndefined();
  }
  index.trouble = { method: "query", fails: "the service is down" };
  const without = await search(WORDS[1] ?? "");
  expect(without.results[0]?.content).toBe(WORDS[1]);
  expect(without.note).toContain("Vectorize cannot be asked");

  // A document without its first parts takes the place of it: what is left is not embedded again.
  const texts = (): number => embeddings.requests.flatMap(({ input }) => input).length;
  const before = texts();
  index.trouble = { method: "deleteByIds", fails: "the service is down" };
  const rest = WORDS.slice(10).map((word) => `# ${word}\n\n${word}\n\n`);
  await put("guide", rest.join(""));
  await worker.kill();
  index.trouble = undefined;
  await worker.restart();
  await shows(rest.length - Math.floor(ABOVE * 0.98));
  expect(texts()).toBe(before);
  for (const word of [WORDS[10], WORDS[40]] as string[]) {
    expect(await search(word)).toMatchObject({ mode: "hybrid", results: [{ content: word }] });
  }
  expect((await search(WORDS[1] ?? "")).results[0]?.content).not.toBe(WORDS[1]);

  // Beside another document it is deleted, and the other one is found.
  await put("note", "The canteen is closed.");
  expect((await worker.fetch(`${documents}/guide`, { method: "DELETE" })).status).toBe(204);
  await shows(0);
  expect(await search(WORDS[40] ?? "")).toMatchObject({
    mode: "hybrid",
    results: [{ document: "note" }],
  });
  await put("guide", content);
  await shows(SECTIONS + 1 - Math.floor(ABOVE * 0.98));

  // What is deleted is deleted there, too, even if the server dies before that.
  index.trouble = { method: "deleteByIds", fails: "the service is down" };
  expect((await worker.fetch(collection, { method: "DELETE" })).status).toBe(204);
  await worker.kill();
  index.trouble = undefined;
  await worker.restart();
  expect((await worker.fetch(collection)).status).toBe(404);
  await shows(0);
});

test("a document of a collection above the bound is erased by itself, and its vectors in the index, too", async () => {
  await using embeddings = await startEmbeddingServer(26);
  await using vectorize = await startVectorizeServer(26);
  const settings = { SECRETS_KEY: btoa("k".repeat(32)), VECTORIZE_ABOVE: String(ABOVE) };
  await using worker = await KillableWorker.start(settings, { vectorize: vectorize.url });
  const { index } = vectorize;
  const collection = "/v1/collections/library";
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "small", base_url: embeddings.url, api_key: "key" },
  };
  await worker.fetch(collection, jsonInit({ embedding }, "PUT"));
  const half = SECTIONS / 2;
  const parts = { erased: WORDS.slice(0, half), kept: WORDS.slice(half) };
  for (const [id, words] of Object.entries(parts)) {
    const content = words.map((word) => `# ${word}\n\n${word}\n\n`).join("");
    const body = jsonInit({ mime_type: "text/markdown", content }, "PUT");
    expect((await worker.fetch(`${collection}/documents/${id}`, body)).status).toBe(202);
  }
  const visible = (): number => {
    index.pass(11_000);
    return index.visible.length;
  };
  const away = SECTIONS - Math.floor(ABOVE * 0.98);
  await expect.poll(visible, { interval: 100, timeout: 30_000 }).toBe(away);
  const search = async (word: string): Promise<Found> => {
    const found = await worker.fetch(`${collection}/search`, jsonInit({ q: word, k: 5 }));
    return (await found.json()) as Found;
  };
  const first = parts.erased[0] ?? "";
  expect((await search(first)).results[0]).toMatchObject({ document: "erased", content: first });

  // Not found from then on, though the index still shows its vectors.
  index.trouble = { method: "deleteByIds", fails: "the service is down" };
  const path = `${collection}/documents/erased`;
  const began = Date.now();
  expect((await worker.fetch(path, { method: "DELETE" })).status).toBe(204);
  expect((await worker.fetch(path)).status).toBe(404);
  expect(index.visible).toHaveLength(away);
  for (const word of parts.erased) {
    const { results, mode } = await search(word);
    expect(mode).toBe("hybrid");
    expect(new Set(results.map(({ document }) => document))).toEqual(new Set(["kept"]));
  }
  // The object waits 2, 4, 8, … seconds between attempts, and a search does not make it ask earlier.
  const attempts = index.calls.filter(({ method }) => method === "deleteByIds").length;
  const waits = Math.log2((Date.now() - began) / 2_000 + 1);
  expect(attempts).toBeLessThanOrEqual(1 + Math.ceil(waits));

  // Those of the other document stay, wherever they are searched.
  index.trouble = undefined;
  await expect.poll(visible, { interval: 100, timeout: 60_000 }).toBe(away - half);
  expect(index.written).toHaveLength(away - half);
  for (const word of parts.kept) expect((await search(word)).results[0]?.content).toBe(word);
  const info = (await (await worker.fetch(collection)).json()) as { documents: number };
  expect(info).toMatchObject({ documents: 1, chunks: half, embedded: half });
});
