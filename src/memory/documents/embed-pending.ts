import type { EmbeddingClient, EmbeddingResult } from "../../core/memory/embedding-client.ts";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { retryDelay } from "../../core/steps/retry.ts";
import {
  chunkText,
  type CollectionRecord,
  type CollectionStore,
  type DocumentRecord,
  isPending,
} from "./collection-store.ts";

/** Chunks that are embedded in one request, after which the progress is stored. */
const AT_ONCE = 64;
/** An alarm works this long; then it is set again, so that the object is not held by one. */
const LONGEST_MS = 20_000;

/** Secrets that cannot be read are tried again after this time. An object that is loaded before tries at once. */
const LOCKED_MS = 900_000;

const UNLOCKED =
  "It is embedded by itself once its secrets can be read. Until then it is found by its words.";

/**
 * Embeds chunks that wait for their vectors, and stores the progress after each request.
 *
 * @param of what it needs of the collection
 * @returns milliseconds after which it continues; undefined when nothing is left to do
 */
export async function embedPending(
  store: CollectionStore,
  of: { id: string; client: () => Promise<EmbeddingClient> },
): Promise<number | undefined> {
  const until = Date.now() + LONGEST_MS;
  for (;;) {
    const document = nextPending(store);
    if (document === undefined) return undefined;
    if (Date.now() >= until) return 0;
    const { record } = store;
    let client: EmbeddingClient | undefined;
    try {
      client = await of.client();
      await embedSome(store, document, client);
    } catch (error) {
      // The attempt says nothing about an embedding that was given meanwhile, or asked again.
      if (store.record !== record) continue;
      const delay = failed(store, document, { error, client, id: of.id });
      if (delay !== undefined) return delay;
    }
  }
}

function nextPending(store: CollectionStore): DocumentRecord | undefined {
  for (const document of store.allDocuments()) if (isNext(store, document)) return document;
  return undefined;
}

/** Documents of another embedding wait until they are to be embedded again. */
function isNext({ record }: CollectionStore, document: DocumentRecord): boolean {
  return isPending(document) && document.space === record?.space;
}

/** Embeds the next chunks of a document. @throws ModelError */
async function embedSome(
  store: CollectionStore,
  document: DocumentRecord,
  client: EmbeddingClient,
): Promise<void> {
  const { space, next } = document;
  if (space === null) return;
  const rows = store.chunks(document, next, AT_ONCE);
  const missing = rows.filter(({ seq }) => store.index.vectorOf(seq)?.space !== space);
  const texts = missing.map(({ body }) => chunkText(body));
  const stored = store.index.vectors(space, texts);
  const unknown = [...new Set(texts.filter((_, index) => stored[index] === null))];
  const result = unknown.length === 0 ? undefined : await client.embed(unknown);
  const made = new Map(unknown.map((text, index) => [text, result?.vectors[index]]));
  const vectors = texts.map((text, index) => stored[index] ?? made.get(text) ?? []);
  const { record } = store;
  const now = store.document(document.id);
  // A document that was deleted, put again or given another embedding meanwhile does not come back.
  if (record === undefined || record.space !== space || now?.version !== document.version) return;
  const dimensions = record.dimensions ?? vectors[0]?.length ?? null;
  for (const vector of vectors)
    if (vector.length !== dimensions) throw otherDimension(vector, dimensions);
  const tokens = result === undefined ? 0 : tokensOf(result);
  store.index.change(() => {
    for (const [index, row] of missing.entries()) {
      store.index.embed(row, { space, values: vectors[index] ?? [] });
    }
    const embedded = now.embedded + missing.length;
    store.saveDocument({ ...now, embedded, next: next + AT_ONCE, error: null, waits: false });
    store.save({
      ...record,
      locked: false,
      dimensions,
      failures: 0,
      embedding_tokens: record.embedding_tokens + tokens,
    });
  });
}

/** The tokens of a request, estimated where the server reports none. */
export function tokensOf({
  usage,
  usage_details,
}: Pick<EmbeddingResult, "usage" | "usage_details">): number {
  return usage.prompt_tokens + (usage_details?.estimate?.prompt_tokens ?? 0);
}

function otherDimension(vector: readonly number[], dimensions: number | null): ModelError {
  return new ModelError(
    "bad_response",
    `The embedding server gave ${vector.length} numbers, and the vectors of the collection have ${dimensions}`,
    { retryable: false },
  );
}

/**
 * Records that embedding has failed. What another attempt may resolve is tried again; then all documents that wait have
 * failed, or only the one that the server refuses.
 *
 * @returns milliseconds until the next attempt; undefined if there is none
 */
function failed(
  store: CollectionStore,
  document: DocumentRecord,
  { error, client, id }: { error: unknown; client: EmbeddingClient | undefined; id: string },
): number | undefined {
  const { record } = store;
  if (record === undefined) return undefined;
  const now = Date.now();
  const attempt = record.failures + 1;
  const since = record.failures === 0 ? now : record.failing_since;
  if (error instanceof TroupeError && error.code === "secrets_unreadable") {
    store.index.change(() => {
      if (record.locked !== true) store.save({ ...record, locked: true });
      const failure = { error: `${error.message} ${UNLOCKED}`, waits: true };
      fail(store, store.allDocuments(), failure);
    });
    return LOCKED_MS;
  }
  const retryable = !(error instanceof ModelError) || error.retryable;
  const delay = retryable
    ? retryDelay({ attempt, failingMs: now - since, error }, client?.retryPolicy?.(error))
    : undefined;
  const changed: CollectionRecord = {
    ...record,
    failures: delay === undefined ? 0 : attempt,
    failing_since: since,
  };
  const refused = error instanceof ModelError && error.kind === "bad_request";
  store.index.change(() => {
    store.save(changed);
    if (delay !== undefined) return;
    const all = refused ? [store.document(document.id)] : store.allDocuments();
    fail(store, all, { error: reasonOf(error, id), waits: false });
  });
  return delay;
}

/** Those of the documents that wait have failed. */
function fail(
  store: CollectionStore,
  documents: Iterable<DocumentRecord | undefined>,
  failure: Pick<DocumentRecord, "error" | "waits">,
): void {
  for (const one of documents) {
    if (one === undefined || !isNext(store, one) || one.error === failure.error) continue;
    store.saveDocument({ ...one, ...failure });
  }
}

/** The error, and what to do. */
function reasonOf(error: unknown, id: string): string {
  const message = errorMessage(error);
  const remedy =
    error instanceof ModelError && error.kind === "bad_response"
      ? 'Check "model" and "dimensions" of the collection\'s embedding'
      : "Check the collection's embedding and its server";
  return `${message.replace(/\.?$/, ".")} ${remedy}, then POST /v1/collections/${id}/embed embeds it again. Until then it is found by its words.`;
}
