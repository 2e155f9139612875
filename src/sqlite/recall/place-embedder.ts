import { errorMessage, TroupeError } from "../../core/errors.ts";
import type { Embedding } from "../../core/memory/memory-host.ts";
import { searchText } from "../../core/memory/memory-content.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { retryDelay } from "../../core/steps/retry.ts";
import { within } from "../../core/wait.ts";
import { isOfPerson, type MemoryEntries, type MemoryRow } from "./memory-entries.ts";

/** An embedding that agents use for the entries of a place. */
export interface UsedEmbedding {
  /** Names its vectors. */
  space: string;
  /** The entries that are compared: those of this collection and those without one; null for all. */
  collection: string | null;
}

/** Embeds texts as the agents do that use the entries of a place. */
export interface PlaceEmbedder {
  used(): Promise<readonly UsedEmbedding[]>;
  /** Undefined if it is not used any more. @throws ModelError */
  embed(used: UsedEmbedding, texts: readonly string[]): Promise<number[][] | undefined>;
}

type Index = MemoryEntries["index"];

/** A search waits as long as a run does; then words alone decide. */
const QUESTION_MS = 10_000;
/** Entries that are embedded in one request, after which the progress is stored. */
const AT_ONCE = 64;
/** An alarm works this long; then it is set again, so that the object is not held by one. */
const LONGEST_MS = 20_000;
/** A server that is away is asked for so long; then the entries wait for an agent that reaches it. */
const PATIENCE = { forSeconds: 3_600 };

/** The vector of a question to a place; a note if it could not be made. */
export async function embedQuestion(
  { index }: MemoryEntries,
  embedder: PlaceEmbedder,
  text: string,
): Promise<{ embedding?: Embedding; note?: string }> {
  if (text.trim() === "" || index.spaces.length === 0) return {};
  try {
    return await within(QUESTION_MS, asked());
  } catch (error) {
    return { note: `Words only: the question could not be embedded. ${errorMessage(error)}` };
  }

  async function asked(): Promise<{ embedding?: Embedding; note?: string }> {
    for (const one of await usedFirst(index, embedder)) {
      const { space } = one;
      const lengths = lengthsOf(index, space);
      if (lengths.size === 0) continue;
      const [stored] = index.vectors(space, [text]);
      const [values] = stored ? [stored] : ((await embedder.embed(one, [text])) ?? []);
      if (values === undefined) continue;
      if (lengths.has(values.length)) return { embedding: { space, values } };
      return { note: `Words only: ${otherLength(values, lengths)}` };
    }
    return {};
  }
}

/**
 * Embeds what people have added or corrected, and stores the progress after each request.
 *
 * @returns milliseconds after which it continues; undefined when nothing is left to do
 */
export async function embedWaiting(
  entries: MemoryEntries,
  embedder: PlaceEmbedder,
): Promise<number | undefined> {
  const until = Date.now() + LONGEST_MS;
  while (entries.waiting.isDue) {
    if (Date.now() >= until) return 0;
    try {
      await embedSome(entries, embedder);
    } catch (error) {
      return failed(entries, error);
    }
  }
  return undefined;
}

/** Embeds the next entries. @throws ModelError */
async function embedSome(entries: MemoryEntries, embedder: PlaceEmbedder): Promise<void> {
  const { index, waiting } = entries;
  const { record, additions } = waiting;
  if (record === undefined) return;
  const rows = index.bare(record.from, AT_ONCE);
  const last = rows.at(-1);
  const people = rows.filter(({ body }) => isOfPerson(body));
  const used = people.length === 0 ? [] : await usedFirst(index, embedder);
  const first = people.map((row) => used.find((one) => isFor(one, row))).find(Boolean);
  const chosen = first === undefined ? [] : people.filter((row) => isFor(first, row));
  const vectors = first && (await vectorsFor(index, embedder, first, chosen));
  // The embedding is not used any more: the next attempt looks for another one.
  if (first !== undefined && vectors === undefined) return;
  // Skip an entry that was erased during the request.
  if (waiting.record === undefined) return;
  const others = people.some((row) => !chosen.includes(row) && used.some((one) => isFor(one, row)));
  index.change(() => {
    for (const [n, row] of chosen.entries()) {
      const values = vectors?.[n];
      if (values !== undefined && first && isAsItWas(entries, row)) {
        index.embed(row, { space: first.space, values });
      }
    }
    const now = waiting.record ?? record;
    if (people.length > 0 && used.length === 0) waiting.save({ ...now, until_used: "unknown" });
    else if (waiting.additions === additions && !others) {
      waiting.save(last && { ...now, failures: 0, from: last.seq + 1 });
    }
  });
}

/** Those that most entries have vectors of come first. */
async function usedFirst(index: Index, embedder: PlaceEmbedder): Promise<readonly UsedEmbedding[]> {
  const rank = new Map(index.spaces.toReversed().map(({ key }, n) => [key.name, n]));
  const used = await embedder.used();
  return used.toSorted((a, b) => (rank.get(b.space) ?? -1) - (rank.get(a.space) ?? -1));
}

/** Undefined if the embedding is not used any more. @throws ModelError */
async function vectorsFor(
  index: Index,
  embedder: PlaceEmbedder,
  used: UsedEmbedding,
  rows: readonly MemoryRow[],
): Promise<number[][] | undefined> {
  const { space } = used;
  const texts = rows.map(textOf);
  const stored = index.vectors(space, texts);
  const unknown = [...new Set(texts.filter((_, n) => stored[n] === null))];
  const made = unknown.length === 0 ? [] : await embedder.embed(used, unknown);
  if (made === undefined) return undefined;
  const lengths = lengthsOf(index, space);
  for (const values of made) {
    if (lengths.size === 0 || lengths.has(values.length)) continue;
    throw new ModelError("bad_response", otherLength(values, lengths), { retryable: false });
  }
  const byText = new Map(unknown.map((text, n) => [text, made[n]]));
  return texts.map((text, n) => stored[n] ?? byText.get(text) ?? []);
}

/** The numbers of dimensions of a space's vectors. */
function lengthsOf(index: Index, space: string): Set<number> {
  const ofSpace = index.spaces.filter(({ key }) => key.name === space);
  return new Set(ofSpace.map(({ key }) => key.dimensions));
}

function otherLength(values: readonly number[], lengths: ReadonlySet<number>): string {
  return `the embedding server gave ${values.length} numbers, and the entries have ${[...lengths].join(" or ")}.`;
}

/** True if another attempt may help: a component that cannot be built stays as it is. */
export function mayHelp(error: unknown): boolean {
  return error instanceof ModelError ? error.retryable : !(error instanceof TroupeError);
}

/** @returns milliseconds until the next attempt; undefined if there is none */
function failed({ index, waiting }: MemoryEntries, error: unknown): number | undefined {
  const { record } = waiting;
  if (record === undefined) return undefined;
  const now = Date.now();
  const attempt = record.failures + 1;
  const since = record.failures === 0 ? now : record.failing_since;
  const delay = mayHelp(error)
    ? retryDelay({ attempt, failingMs: now - since, error }, PATIENCE)
    : undefined;
  const until_used = delay === undefined ? "failed" : null;
  index.change(() => {
    waiting.save({ ...record, failures: attempt, failing_since: since, until_used });
  });
  return delay;
}

function isFor({ collection }: UsedEmbedding, row: MemoryRow): boolean {
  return collection === null || row.collection === null || row.collection === collection;
}

function isAsItWas({ index }: MemoryEntries, row: MemoryRow): boolean {
  const now = index.find(row.id);
  return now?.seq === row.seq && textOf(now) === textOf(row) && !index.vectorOf(now.seq);
}

function textOf({ body }: MemoryRow): string {
  return searchText(body.content);
}
