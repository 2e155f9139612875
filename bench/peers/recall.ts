import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { InMemoryStore } from "@langchain/langgraph";
import { LibSQLVector } from "@mastra/libsql";
import * as sqliteVec from "sqlite-vec";
import { generatedVectors } from "../../test/sqlite/recall/generated-vectors.ts";

// Fills a store of vectors, asks it, and prints what it found. Arguments: the store, entries, dimensions, queries, clusters.

/** A store of vectors: fills it, and finds the ten that are nearest. */
interface Store {
  add(vectors: readonly number[][], from: number): Promise<void>;
  nearest(vector: number[]): Promise<string[]>;
}

const [name = "", ...numbers] = process.argv.slice(2);
const [count = 0, dimensions = 0, queries = 0, clusters = 0] = numbers.map(Number);
const NEAREST = 10;
const AT_ONCE = 500;

const directory = mkdtempSync(join(tmpdir(), "troupe-recall-"));
process.on("exit", () => rmSync(directory, { recursive: true, force: true }));

const STORES: Record<string, () => Promise<Store>> = {
  async "sqlite-vec"() {
    const db = new DatabaseSync(join(directory, "vec.db"), { allowExtension: true });
    sqliteVec.load(db);
    db.exec(
      `create virtual table fact using vec0 (embedding float[${dimensions}] distance_metric=cosine)`,
    );
    const insert = db.prepare("insert into fact (rowid, embedding) values (?, ?)");
    const ask = db.prepare("select rowid from fact where embedding match ? and k = ?");
    const bytes = (vector: number[]): Uint8Array => new Uint8Array(new Float32Array(vector).buffer);
    return {
      async add(vectors, from) {
        db.exec("begin");
        for (const [index, vector] of vectors.entries()) {
          insert.run(BigInt(from + index), bytes(vector));
        }
        db.exec("commit");
      },
      async nearest(vector) {
        return ask.all(bytes(vector), NEAREST).map((row) => String(row["rowid"]));
      },
    };
  },

  async "LibSQL (Mastra)"() {
    const store = new LibSQLVector({ id: "bench", url: `file:${join(directory, "libsql.db")}` });
    const indexName = "fact";
    await store.createIndex({ indexName, dimension: dimensions });
    return {
      async add(vectors, from) {
        const ids = vectors.map((_, index) => String(from + index));
        await store.upsert({ indexName, vectors: [...vectors], ids });
      },
      async nearest(queryVector) {
        const found = await store.query({ indexName, queryVector, topK: NEAREST });
        return found.map(({ id }) => id);
      },
    };
  },

  async "InMemoryStore (LangGraph)"() {
    // It embeds texts itself, so each text stands for the vector that it has to get.
    const known = new Map<string, number[]>();
    const embed = async (text: string): Promise<number[]> => known.get(text) ?? [];
    const embeddings = {
      embedQuery: embed,
      embedDocuments: (texts: string[]) => Promise.all(texts.map(embed)),
    };
    const store = new InMemoryStore({ index: { dims: dimensions, embeddings, fields: ["text"] } });
    return {
      async add(vectors, from) {
        for (const [index, vector] of vectors.entries()) {
          const key = String(from + index);
          known.set(key, vector);
          await store.put(["fact"], key, { text: key });
        }
      },
      async nearest(vector) {
        known.set("query", vector);
        const found = await store.search(["fact"], { query: "query", limit: NEAREST });
        return found.map(({ key }) => key);
      },
    };
  },
};

const store = await STORES[name]?.();
if (store === undefined) throw new Error(`no store "${name}"`);
const generated = generatedVectors({ dimensions, clusters });
for (let from = 0; from < count; from += AT_ONCE) {
  const size = Math.min(AT_ONCE, count - from);
  await store.add(
    Array.from({ length: size }, () => generated.next()),
    from,
  );
}
const asked = generatedVectors({ dimensions, clusters, drawn: 2 });
const vectors = Array.from({ length: queries }, () => asked.next());
for (const vector of vectors) await store.nearest(vector);
const before = process.cpuUsage();
const found: string[][] = [];
for (const vector of vectors) found.push(await store.nearest(vector));
const { user, system } = process.cpuUsage(before);
console.log(JSON.stringify({ cpu: (user + system) / 1_000 / queries, found }));
process.exit();
