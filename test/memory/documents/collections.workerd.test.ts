import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test, vi } from "vitest";
import type { CollectionGateway } from "#contract/gateways/memory-gateway.ts";
import { PATIENCE } from "../../support/patience.ts";
import { tenantStub } from "../../team/support/tenant.ts";
import { value } from "../../team/support/team.ts";

const GUIDE = { id: "guide", title: null, mime_type: "text/plain", metadata: {} };
const EMPTY = { description: null, embedding: null, language: "auto" } as const;

function collectionOf(tenant: string): CollectionGateway {
  const stub: unknown = env.MEMORY.get(env.MEMORY.idFromName(`${tenant}/collection/handbook`));
  return stub as CollectionGateway;
}

/** Waits for a table, which shows how far the object has come. */
async function hasTable(collection: CollectionGateway, table: string): Promise<void> {
  const query = "select name from sqlite_master where name = ?";
  await runInDurableObject(collection as never, (_, { storage }) => {
    expect(storage.sql.exec(query, table).toArray()).toHaveLength(1);
  });
}

/** Chunks of a document whose end comes when the test wants. */
function chunks(count: number): { stream: ReadableStream<Uint8Array>; end: () => Promise<void> } {
  const { readable, writable } = new IdentityTransformStream();
  const writer = writable.getWriter();
  const line = (chunk: number): string =>
    `${JSON.stringify({ chunk, heading: null, page: null, content: `Part ${chunk}.` })}\n`;
  const lines = Array.from({ length: count }, (_, n) => line(n)).join("");
  const read = writer.write(new TextEncoder().encode(lines));
  return { stream: readable, end: () => read.then(() => writer.close()) };
}

test.for([
  [1, "chunk"],
  [32, "abandoned"],
  [40, "abandoned"],
] as const)(
  "a collection that is deleted before the end of a document of %i parts stays deleted",
  async ([count, table]) => {
    const collection = collectionOf(`stopped-${count}`);
    value(await collection.putCollection(EMPTY));
    const { stream, end } = chunks(count);
    const put = collection.putDocument(GUIDE, stream);
    await vi.waitFor(() => hasTable(collection, table), PATIENCE);
    value(await collection.deleteCollection());
    await end();
    expect(await put).toMatchObject({ problem: { status: 404, code: "collection_not_found" } });
    expect(await collection.collection()).toMatchObject({ problem: { status: 404 } });
  },
);

test("a tenant knows a collection that a document makes again while it is deleted", async () => {
  for (let round = 0; round < 5; round++) {
    const tenant = `again-${round}`;
    const collection = collectionOf(tenant);
    value(await collection.putCollection(EMPTY));
    const { stream, end } = chunks(1);
    await Promise.all([
      collection.putDocument(GUIDE, stream),
      collection.deleteCollection(),
      end(),
    ]);
    const exists = (await collection.collection()).ok;
    expect(await tenantStub(tenant).info()).toMatchObject({
      value: { collections: exists ? 1 : 0 },
    });
  }
});
