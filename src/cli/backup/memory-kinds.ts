import type { ChunkPage, CollectionInfo, DocumentInfo, Memory } from "../../client/index.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ItemWriter } from "./archive.ts";
import type { Kind, RestoreContext } from "./kind.ts";
import { allOf, found, listed, type Server } from "./server.ts";

/** The largest body of a document in JSON, and about that of entries that are sent at a time. */
const LARGEST_BODY = 8_000_000;
const MOST_ENTRIES = 1_000;

/** The owner of memories, in a query and in a body. */
type MemoryPlace = { team: string } | { user: string } | { scope: "tenant" };

/** Memories of users and of the tenant. */
export const memoryKind: Kind = {
  name: "memories",

  async *ids({ commands }) {
    yield "tenant";
    const users = listed(
      (query) => commands.json("GET /v1/memories/users", {}, { query }),
      (page) => page.users,
    );
    for await (const user of users) yield `user/${user}`;
  },

  read: (server, id, item) => archiveMemories(server, placeOf(id), item),

  async exists({ commands }, id) {
    const query = { ...placeOf(id), limit: 1 };
    return (await commands.json("GET /v1/memories", {}, { query })).memories.length > 0;
  },

  async remove({ commands }, id) {
    await commands.json("DELETE /v1/memories", {}, { query: placeOf(id) });
  },

  write: (server, id, context) => restoreMemories(server, placeOf(id), context),
};

/** An id of a user's memories begins with `user/`. */
function placeOf(id: string): MemoryPlace {
  return id === "tenant" ? { scope: "tenant" } : { user: id.slice("user/".length) };
}

export async function archiveMemories(
  { commands }: Server,
  place: MemoryPlace,
  item: ItemWriter,
): Promise<void> {
  const memories = await allOf(
    listed(
      (query) => commands.json("GET /v1/memories", {}, { query: { ...query, ...place } }),
      (page): readonly Memory[] => page.memories,
    ),
  );
  await item.json("memories.json", memories.toReversed());
}

/** Adds the entries in their order. */
export async function restoreMemories(
  { commands }: Server,
  place: MemoryPlace,
  context: RestoreContext,
): Promise<void> {
  const all = await context.json<Memory[]>("memories.json");
  let number = 0;
  for (const memories of batches(all)) {
    const body = {
      memories: memories.map(({ content, metadata }) => ({
        content: content as string | JsonObject,
        metadata,
      })),
      ...place,
    };
    await commands.json(
      "POST /v1/memories",
      {},
      {
        body,
        idempotencyKey: context.idempotencyKey(`memories ${number++}`),
      },
    );
  }
}

function* batches(all: readonly Memory[]): Generator<Memory[]> {
  let batch: Memory[] = [];
  let size = 0;
  for (const memory of all) {
    const length = Buffer.byteLength(JSON.stringify(memory));
    if (batch.length === MOST_ENTRIES || size + length > LARGEST_BODY) {
      yield batch;
      [batch, size] = [[], 0];
    }
    batch.push(memory);
    size += length;
  }
  if (batch.length > 0) yield batch;
}

export const collectionKind: Kind = {
  name: "collection",

  async *ids(server) {
    for await (const { id } of collectionsOf(server)) yield id;
  },

  async read({ commands }, collection, item, secrets) {
    const shown = await commands.json("GET /v1/collections/:collection", { collection });
    await secrets.add(`collection/${collection}/embedding`, shown.embedding);
    await item.json("collection.json", shown);
  },

  exists: async ({ commands }, collection) =>
    (await found(commands.json("GET /v1/collections/:collection", { collection }))) !== undefined,

  async remove({ commands }, collection) {
    await commands.json("DELETE /v1/collections/:collection", { collection });
  },

  async write({ commands }, collection, context) {
    const { description, embedding, language } =
      await context.json<CollectionInfo>("collection.json");
    const filled = context.secrets.fill(`collection/${collection}/embedding`, embedding);
    for (const one of filled.missing) context.todo(`A collection needs its secret: ${one}`);
    const body = { description, embedding: filled.value, language };
    await commands.json("PUT /v1/collections/:collection", { collection }, { body });
  },
};

function collectionsOf({ commands }: Server): AsyncGenerator<CollectionInfo> {
  return listed(
    (query) => commands.json("GET /v1/collections", {}, { query }),
    (page) => page.collections,
  );
}

interface ArchivedDocument extends Pick<DocumentInfo, "title" | "mime_type" | "metadata"> {
  chunks: ChunkPage["chunks"];
}

/** A document in the parts into which it was split: its original file is not stored. */
export const documentKind: Kind = {
  name: "document",

  async *ids(server) {
    const { commands } = server;
    for await (const { id: collection } of collectionsOf(server)) {
      const documents = listed(
        (query) =>
          commands.json("GET /v1/collections/:collection/documents", { collection }, { query }),
        (page): readonly DocumentInfo[] => page.documents,
      );
      for await (const { id } of documents) yield `${collection}/${id}`;
    }
  },

  async read({ commands }, id, item) {
    const [collection = "", document = ""] = id.split("/");
    const names = { collection, document };
    const info = await commands.json("GET /v1/collections/:collection/documents/:document", names);
    const chunks: ChunkPage["chunks"] = [];
    for (let from: number | null = 0; from !== null;) {
      const page: ChunkPage = await commands.json(
        "GET /v1/collections/:collection/documents/:document/chunks",
        names,
        { query: { from, limit: 200 } },
      );
      chunks.push(...page.chunks);
      from = page.next_from;
    }
    const { title, mime_type, metadata } = info;
    const archived: ArchivedDocument = { title, mime_type, metadata, chunks };
    await item.json("document.json", archived);
  },

  async exists({ commands }, id) {
    const [collection = "", document = ""] = id.split("/");
    const names = { collection, document };
    const info = commands.json("GET /v1/collections/:collection/documents/:document", names);
    return (await found(info)) !== undefined;
  },

  async remove({ commands }, id) {
    const [collection = "", document = ""] = id.split("/");
    const names = { collection, document };
    await commands.json("DELETE /v1/collections/:collection/documents/:document", names);
  },

  within: (id) => ({ kind: "collection", id: id.split("/")[0] ?? "" }),

  async write({ commands }, id, context) {
    const [collection = "", document = ""] = id.split("/");
    const { title, mime_type, metadata, chunks } =
      await context.json<ArchivedDocument>("document.json");
    const parts = chunks.map(({ heading, page, content }) => ({ heading, page, content }));
    const content = JSON.stringify({ title, mime_type, metadata, chunks: parts });
    if (Buffer.byteLength(content) > LARGEST_BODY) {
      return context.todo(
        `Put the document ${document} into the collection ${collection} again: it is larger than ${LARGEST_BODY} bytes.`,
      );
    }
    await commands.send(
      "PUT /v1/collections/:collection/documents/:document",
      { collection, document },
      { content, headers: { "content-type": "application/json" } },
    );
  },
};
