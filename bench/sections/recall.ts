import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hashOf } from "../../src/core/hash.ts";
import { referenceRanking } from "../memory/reference-bm25.ts";
import { PEERS_INSTALLED } from "../conversation/all-peers.ts";
import { bundle } from "../support/bundle.ts";
import { startNode } from "../support/child.ts";
import type { MeasureOptions, Report } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import { startWorkerd, type Workerd } from "../support/workerd.ts";
import type { RecallRequest } from "../support/recall-request.ts";

const DIMENSIONS = 1_536;
const SIZES = [10_000, 50_000];
/**
 * The index of LibSQL copies the vectors of an entry's neighbours into its row, 0.7 MB of 1,536 dimensions, and writes many rows
 * again for each entry: 1,000 of them take it more than ten minutes.
 */
const PEERS: Record<string, number> = {
  "sqlite-vec": 1_000,
  "InMemoryStore (LangGraph)": 1_000,
  "LibSQL (Mastra)": 200,
};
/** A peer that has no result by then gets a row that says so. */
const PEER_MINUTES = 10;
const QUERIES = 50;
const ROUNDS = 5;
const CLUSTERS = 200;
const PEER_PROGRAM = join(import.meta.dirname, "../peers/recall.ts");
const DOCS = join(import.meta.dirname, "../../docs");
const QUESTIONS = join(import.meta.dirname, "../memory/questions.json");
/** Dimensions of the vectors of trigrams. */
const TRIGRAMS = 1_024;
/** The places that a section has to be among. */
const FIRST = 5;

type Size = { queries: number; rounds: number };

/** Recall, CPU and memory of the index of memories, in workerd. */
export async function measure({ smoke }: MeasureOptions = {}): Promise<Report> {
  using worker = await bundle("bench/worker/recall.ts", { objects: { RECALL: "RecallObject" } });
  await using workerd = await startWorkerd(worker);
  const sizes = smoke ? [200] : SIZES;
  const effort = smoke ? { queries: 5, rounds: 1 } : { queries: QUERIES, rounds: ROUNDS };
  const rows: Record<string, string | number>[] = [];
  for (const count of sizes) rows.push(await measureSize(workerd, count, effort));
  const [small = {}, large = {}] = rows;
  const asked = await askDocumentation(workerd);
  for (const [by, share] of Object.entries(asked)) {
    rows.push({ index: `the documentation, by ${by}`, "recall of the first five": share });
  }
  if (PEERS_INSTALLED && !smoke) {
    for (const count of new Set(Object.values(PEERS))) {
      rows.push(await measureSize(workerd, count, effort));
      const ask = { do: "exact", queries: QUERIES, dimensions: DIMENSIONS } as const;
      const exact = await post<string[][]>(workerd, `/of-${count}`, ask);
      for (const [peer, entries] of Object.entries(PEERS)) {
        if (entries === count) rows.push(await measurePeer(peer, entries, exact));
      }
    }
  }
  const atMost = (what: string, value: unknown, limit: number, unit: string) => ({
    what,
    value: Number(value),
    unit,
    limit: { atMost: limit },
  });
  return {
    title: "Memory recall",
    method: `A Durable Object with entries of ${DIMENSIONS} dimensions and 30 words: vectors of 200 clusters with a falling spectrum (test/sqlite/recall/generated-vectors.ts), words of a vocabulary of 5,000 with a few frequent ones; queries are others from the same. LibSQL builds a graph as it is filled, so it has fewer entries than the other peers: each row of its index has copies of the vectors of its neighbours, 0.7 MB. CPU is that of the process, all threads, per query, the median of ${ROUNDS} rounds of ${QUERIES} queries after one to warm up; the first query is measured after the object was unloaded, from the request to the answer. Memory is what the process grew by from the unloaded object to the end of the queries.`,
    rows,
    goals: smoke
      ? []
      : [
          {
            what: "first ten at 10,000 as an exact search",
            value: Number(small["recall of the first ten"]),
            unit: "",
            limit: { atLeast: 0.98 },
          },
          {
            what: "first ten at 50,000 as an exact search",
            value: Number(large["recall of the first ten"]),
            unit: "",
            limit: { atLeast: 0.98 },
          },
          atMost("a query at 10,000", small["both, ms of CPU"], 15, "ms"),
          atMost("a query at 50,000", large["both, ms of CPU"], 60, "ms"),
          atMost(
            "first query of an unloaded object at 10,000",
            small["first query, ms"],
            150,
            "ms",
          ),
          atMost("memory at 10,000", small["memory, MB"], 32, "MB"),
        ],
  };
}

async function measureSize(
  workerd: Workerd,
  count: number,
  { queries, rounds }: Size,
): Promise<Record<string, string | number>> {
  const object = `/of-${count}`;
  const ask = <T>(request: RecallRequest): Promise<T> => post<T>(workerd, object, request);
  const dimensions = DIMENSIONS;
  const { rows } = await ask<{ rows: number }>({ do: "fill", count, dimensions });
  await ask({ do: "search", by: "both", queries: 1, dimensions });
  await ask({ do: "unload" }).catch(() => undefined);
  const before = workerd.memory();
  const started = performance.now();
  const firstCpu = await cpuOf(workerd, () =>
    ask({ do: "search", by: "both", queries: 1, dimensions }),
  );
  const first = performance.now() - started;
  const found: Record<string, string | number> = {
    index: "Troupe, in workerd",
    entries: count,
    "rows per entry, 500 at once": rows,
  };
  for (const by of ["words", "vectors", "both"] as const) {
    const search = { do: "search", by, queries, dimensions } as const;
    await ask(search);
    const cpu: number[] = [];
    for (let round = 0; round < rounds; round++) {
      cpu.push((await cpuOf(workerd, () => ask(search))) / queries);
    }
    found[`${by}, ms of CPU`] = median(cpu);
  }
  found["first query, ms"] = first;
  found["first query, ms of CPU"] = firstCpu;
  found["memory, MB"] = (workerd.memory() - before) / 1e6;
  const near = await ask<string[][]>({ do: "search", by: "vectors", queries, dimensions });
  const exact = await ask<string[][]>({ do: "exact", queries, dimensions });
  found["recall of the first ten"] = recallOf(near, exact);
  found["recall of the first five"] = "";
  return found;
}

/** A store of vectors in Node, with the same vectors and queries. */
async function measurePeer(
  peer: string,
  entries: number,
  exact: readonly string[][],
): Promise<Record<string, string | number>> {
  const args = [peer, ...[entries, DIMENSIONS, QUERIES, CLUSTERS].map(String)];
  const signal = AbortSignal.timeout(PEER_MINUTES * 60_000);
  const row = { index: `${peer}, in Node`, entries };
  try {
    type Hello = { cpu: number; found: string[][] };
    await using program = await startNode<Hello>(PEER_PROGRAM, args, signal);
    const { cpu, found } = program.hello;
    return { ...row, "vectors, ms of CPU": cpu, "recall of the first ten": recallOf(found, exact) };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { ...row, "vectors, ms of CPU": `no result in ${PEER_MINUTES} minutes` };
  }
}

/** How many of the sections that answer a question are among the first five. */
async function askDocumentation(workerd: Workerd): Promise<Record<string, number>> {
  const object = "/documentation";
  const questions = JSON.parse(readFileSync(QUESTIONS, "utf8")) as {
    question: string;
    sections: string[];
  }[];
  const sections = readSections();
  const vectorOf = trigramsOf(sections.map(({ text }) => text));
  const filled = sections.map((section) => ({ ...section, values: vectorOf(section.text) }));
  await post(workerd, object, { do: "sections", sections: filled });
  const recall = async (values: (question: string) => number[] | null): Promise<number> => {
    const found = await post<string[][]>(workerd, object, {
      do: "ask",
      k: FIRST,
      questions: questions.map(({ question: text }) => ({ text, values: values(text) })),
    });
    return recallOf(
      found,
      questions.map((question) => question.sections),
    );
  };
  const plain = referenceRanking(sections.map(({ text }) => text));
  const byPlain = questions.map(({ question }) =>
    plain(question)
      .slice(0, FIRST)
      .map((index) => sections[index]?.id ?? ""),
  );
  return {
    words: await recall(() => null),
    "plain BM25 with stemming": recallOf(
      byPlain,
      questions.map((question) => question.sections),
    ),
    "words and trigrams": await recall(vectorOf),
  };
}

/** The pages of docs/, split at their headings. A text begins with the headings above it, as a part of a collection does. */
function readSections(): { id: string; text: string }[] {
  return readdirSync(DOCS)
    .filter((file) => file.endsWith(".md"))
    .flatMap((file) => {
      const sections: { id: string; text: string }[] = [];
      const path: string[] = [];
      let inCode = false;
      for (const line of readFileSync(join(DOCS, file), "utf8").split("\n")) {
        if (line.trimStart().startsWith("```")) inCode = !inCode;
        const [, marks, heading] = (!inCode && /^(#{1,4}) (.*)/.exec(line)) || [];
        if (marks !== undefined && heading !== undefined) {
          path.splice(marks.length - 1, path.length, heading);
          sections.push({ id: `${file}#${heading}`, text: `${path.join(" > ")}\n\n` });
        } else {
          const section = sections.at(-1);
          if (section !== undefined) section.text += `${line}\n`;
        }
      }
      return sections;
    });
}

/**
 * Vectors without a model: how often each three characters occur, weighted by how few texts have them, and hashed into a
 * vector. They stand for an embedding where none can be reached, and say less than one.
 */
function trigramsOf(texts: readonly string[]): (text: string) => number[] {
  const having = new Map<string, number>();
  for (const text of texts) {
    for (const one of new Set(threes(text))) having.set(one, (having.get(one) ?? 0) + 1);
  }
  return (text) => {
    const values = Array.from({ length: TRIGRAMS }, () => 0);
    const counts = new Map<string, number>();
    for (const one of threes(text)) counts.set(one, (counts.get(one) ?? 0) + 1);
    for (const [one, count] of counts) {
      const weight = Math.log(1 + count) * Math.log(1 + texts.length / (having.get(one) ?? 1));
      const { high, low } = hashOf(one);
      const place = (low >>> 0) % TRIGRAMS;
      values[place] = (values[place] ?? 0) + (high & 1 ? weight : -weight);
    }
    return values;
  };
}

function threes(text: string): string[] {
  const plain = ` ${text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, " ")} `;
  return Array.from({ length: plain.length - 2 }, (_, index) => plain.slice(index, index + 3));
}

/** The share of what an exact search finds. */
function recallOf(found: readonly string[][], exact: readonly string[][]): number {
  const shares = exact.map((ids, index) => {
    const known = new Set(found[index]);
    return ids.filter((id) => known.has(id)).length / ids.length;
  });
  return shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

async function cpuOf(workerd: Workerd, work: () => Promise<unknown>): Promise<number> {
  const before = workerd.cpu();
  await work();
  return workerd.cpu() - before;
}

async function post<T>({ origin }: Workerd, object: string, request: RecallRequest): Promise<T> {
  const response = await fetch(origin + object, { method: "POST", body: JSON.stringify(request) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
