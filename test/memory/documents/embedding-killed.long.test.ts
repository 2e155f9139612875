import { expect, test } from "vitest";
import { jsonInit } from "../../support/http-app.ts";
import { startEmbeddingServer } from "../../support/embedding-server.ts";
import { KillableWorker } from "../../support/killable-worker.ts";

const SECTIONS = 200;

test("an embedding that was killed continues, and embeds no stored text again", async () => {
  await using server = await startEmbeddingServer();
  await using worker = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  const embedding = {
    provider: "troupe.embeddings.OpenAIEmbeddingClient",
    config: { model: "small", base_url: server.url, api_key: "key" },
  };
  await worker.fetch("/v1/collections/c", jsonInit({ embedding }, "PUT"));
  const sections = Array.from({ length: SECTIONS }, (_, n) => `# Section ${n}\n\nText ${n}.\n\n`);
  server.misbehave({ hangsFrom: 2 });
  const content = { mime_type: "text/markdown", content: sections.join("") };
  const path = "/v1/collections/c/documents/guide";
  await worker.fetch(path, jsonInit(content, "PUT"));
  await expect.poll(() => server.requests.length, { interval: 10 }).toBe(2);
  const before = (await (await worker.fetch(path)).json()) as object;
  expect(before).toMatchObject({ status: "embedding", chunks: SECTIONS, embedded: 64 });
  await worker.kill();
  server.misbehave(undefined);
  await worker.restart();
  await expect
    .poll(async () => (await worker.fetch(path)).json(), { interval: 100 })
    .toMatchObject({ status: "ready", embedded: SECTIONS });
  const [first, killed, ...rest] = server.requests.map(({ input }) => input);
  expect(killed).toHaveLength(64);
  const after = rest.flat();
  expect(after).toHaveLength(SECTIONS - 64);
  expect(after.filter((text) => first?.includes(text))).toEqual([]);
});
