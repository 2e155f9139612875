import * as z from "zod";
import { TroupeError } from "../errors.ts";
import { asJson, sortedJson } from "../json.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { asData } from "../memory/as-data.ts";
import type { Citation, CollectionResult, FoundChunk } from "../memory/memory-host.ts";
import type { MetadataFilter } from "../memory/metadata-filter.ts";

export const collectionSchema = z.string().min(1).max(200);

export interface CollectionQuery {
  collection: string;
  q: string;
  k: number;
  filter: MetadataFilter | null;
}

/**
 * Searches a collection of documents in a step of `ctx`. A second step has the tokens of the question, if a model has made its
 * vector.
 *
 * @throws TroupeError `no_collections` on hosts without any; what the collection throws, such as that there is none
 */
export async function searchCollection(
  { collection, q, k, filter }: CollectionQuery,
  ctx: TurnContext,
): Promise<CollectionResult> {
  const reader = ctx.memory.collection(collection);
  if (reader === undefined) {
    throw new TroupeError("no_collections", "this server has no collections of documents");
  }
  const query = { q, k, ...(filter && { filter }) };
  const found = await ctx.step("search", () => reader.search(query), {
    subject: { name: collection },
    fingerprint: sortedJson(asJson([collection, query])),
  });
  const { embedding } = found;
  if (embedding !== undefined) {
    await ctx.step("question", () => Promise.resolve(embedding), {
      kind: "model",
      subject: { name: embedding.model },
    });
  }
  return found;
}

export function citationOf(
  collection: string,
  { document, chunk, heading, page }: FoundChunk,
): Citation {
  return { collection, document, chunk, heading, page };
}

/** The found parts for a prompt, each with its source and marked as data. */
export function passages(results: readonly FoundChunk[], { memory }: TurnContext): string {
  const parts = results.map(({ document, heading, page, content }, index) => {
    const names = [document, heading, page === null ? null : `page ${page}`];
    const source = names.filter((one) => one !== null).join(", ");
    return `[${index + 1}] From ${source}:\n${content}`;
  });
  return asData("documents", parts.join("\n\n"), memory);
}

/** The citations of a message, each part of a document once. Metadata holds texts only. */
export function citationsText(citations: readonly Citation[]): string {
  const unique = new Map(citations.map((one) => [JSON.stringify(one), one]));
  return JSON.stringify([...unique.values()]);
}
