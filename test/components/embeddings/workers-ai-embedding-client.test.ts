import { expect, test } from "vitest";
import { WorkersAIEmbeddingClient, type WorkersAIBinding } from "troupe";
import { vectorOf } from "../../support/embedding-server.ts";

/** A binding with the limits and the answers of Workers AI. */
function binding(answer?: (text: string[]) => unknown) {
  const requests: { model: string; text: string[] }[] = [];
  const ai: WorkersAIBinding = {
    run(model, inputs) {
      const text = inputs["text"] as string[];
      requests.push({ model, text });
      if (text.length > 100) {
        const errors = [{ code: 5006, message: "'/text' must NOT have more than 100 items" }];
        return Promise.resolve(Response.json({ errors }, { status: 400 }));
      }
      const data = text.map((one) => vectorOf(one, 1024));
      return Promise.resolve(
        Response.json(answer?.(text) ?? { shape: [data.length, 1024], data, pooling: "cls" }),
      );
    },
  };
  return { ai, requests };
}

test("texts are sent a hundred at a time, and usage is estimated", async () => {
  const { ai, requests } = binding();
  const client = new WorkersAIEmbeddingClient({}, { ai });
  const texts = Array.from({ length: 150 }, (_, index) => `text ${index}`);
  const { vectors, usage_details } = await client.embed(texts);
  expect(vectors[149]).toEqual(vectorOf("text 149", 1024));
  expect(requests.map(({ model, text }) => [model, text.length])).toEqual([
    ["@cf/baai/bge-m3", 100],
    ["@cf/baai/bge-m3", 50],
  ]);
  expect(usage_details?.estimate?.prompt_tokens).toBeGreaterThan(150);
});

test("an answer without vectors or of another dimension is a clear error", async () => {
  const none = new WorkersAIEmbeddingClient({}, { ai: binding(() => ({ response: "x" })).ai });
  await expect(none.embed(["tea"])).rejects.toThrow("has no list of vectors");
  const short = new WorkersAIEmbeddingClient({}, { ai: binding(() => ({ data: [[1, 2]] })).ai });
  await expect(short.embed(["tea"])).rejects.toThrow(/^dimensions: /);
});

test("a client without the binding is refused", () => {
  expect(() => new WorkersAIEmbeddingClient()).toThrow("need the binding AI");
});
