import { trimEnd } from "../text/trim-end.ts";
import { fromBase64, toBase64 } from "../base64.ts";
import { errorMessage, TroupeError, ValueError } from "../errors.ts";
import { asJson, sortedJson } from "../json.ts";
import { textTokens } from "../models/tokens/estimate.ts";
import { isPassing } from "../steps/passing-error.ts";
import { rethrowSignal } from "../steps/signals.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
import type { StepOptions, TurnContext } from "../turn/turn-context.ts";
import type { EmbeddingClient, EmbeddingResult } from "../memory/embedding-client.ts";
import { type MemoryContent, searchText } from "../memory/memory-content.ts";
import type {
  Embedding,
  MemoryScope,
  MemoryStore,
  RecallQuery,
  RecallResult,
} from "../memory/memory-host.ts";
import type { TextLanguage } from "../search/languages.ts";
import type { EmbeddingUse } from "./embedding-use.ts";

/** A run does not wait longer for its memories: they answer by words meanwhile. */
export const PATIENCE: RetryPolicy = { forSeconds: 10 };

/** The code of steps that could not read the store. */
const STORE_AWAY = "memories_unreachable";

/** Candidates among which a content that is equal but for its spelling is looked for. */
const MOST_ALIKE = 5;

export interface ScopedMemoryOptions {
  /** For notes. */
  name: string;
  scope: MemoryScope;
  /** The scope of runs that have none of `scope`; without it they recall and store nothing. */
  otherwise?: MemoryScope | undefined;
  collection: string | null;
  embedding: EmbeddingClient | null;
  /** The language of its contents and questions. Default: what they look like. */
  language?: TextLanguage | undefined;
}

/** A content to store. `message` is the id of the message it was learned from. */
export interface Learned {
  content: MemoryContent;
  message: string | null;
}

/** Tokens of the texts that a step has embedded; the run counts them as those of a model. */
type Counted = Omit<EmbeddingResult, "vectors"> | undefined;

/** The entries of a scope for one component: embeds what it reads and writes, in steps, with notes where it cannot. */
export class ScopedMemory {
  readonly #options: ScopedMemoryOptions;

  constructor(options: ScopedMemoryOptions) {
    this.#options = options;
  }

  /** Undefined for a memory that compares words only. */
  get embeds(): EmbeddingUse | undefined {
    const { scope, collection, embedding: client } = this.#options;
    return client === null ? undefined : { scope, collection, client };
  }

  /** As {@link find}; a store that cannot be read is not a reason to fail a run, and leaves a note. */
  async recall(
    query: Omit<RecallQuery, "embedding" | "collection">,
    ctx: TurnContext,
  ): Promise<RecallResult | undefined> {
    try {
      return await this.find(query, ctx);
    } catch (error) {
      rethrowSignal(error);
      ctx.note(`"${this.#options.name}" could not be read: ${errorMessage(error)}`);
      return undefined;
    }
  }

  /** Undefined, with a note, if the run has no such memory. @throws Error if it cannot be read */
  async find(
    query: Omit<RecallQuery, "embedding" | "collection">,
    ctx: TurnContext,
  ): Promise<RecallResult | undefined> {
    const store = this.#storeOf(ctx);
    if (store === undefined) return undefined;
    const { name, embedding, collection, language } = this.#options;
    const scope = ctx.scope(`recall:${ctx.id()}`);
    const asked = { ...query, collection, ...(language !== undefined && { language }) };
    const byMeaning = query.order !== "latest" && query.text.trim() !== "";
    if (byMeaning && embedding === null) {
      ctx.note(`"${name}" has no embedding client and recalls by words only`);
    }
    if (byMeaning && embedding !== null) {
      const result = await this.#recallByMeaning(embedding, asked, store, scope);
      if (result !== undefined) return result;
    }
    if (!store.remote) return store.recall(asked);
    return scope.step("words", () => store.recall(asked), {
      fingerprint: sortedJson(asJson(asked)),
      retry: () => PATIENCE,
    });
  }

  /**
   * Stores contents. Returns their ids, in their order; undefined, with a note, if the run has no such memory.
   *
   * @param renew whether a content that is known already updates its entry
   * @throws ValueError when no more can be stored
   */
  async put(
    learned: readonly Learned[],
    ctx: TurnContext,
    { renew }: { renew: boolean },
  ): Promise<string[] | undefined> {
    const store = this.#storeOf(ctx);
    if (store === undefined) return undefined;
    const { collection, language } = this.#options;
    const scope = ctx.scope(`put:${ctx.id()}`);
    const texts = learned.map(({ content }) => searchText(content.content));
    const storedIds = renew || store.remote ? await this.#known(texts, store, scope) : [];
    const embeddings = await this.#embedded(texts, store, scope);
    const ids = new Map<string, string>();
    return learned.map(({ content, message }, index) => {
      const key = renew ? normalized(texts[index] as string) : String(index);
      const id = ids.get(key) ?? (renew ? storedIds[index] : null) ?? scope.id();
      ids.set(key, id);
      const embedding = embeddings[index];
      store.write({ op: "put", id, content, collection, message, embedding, language });
      return id;
    });
  }

  /** True if there was an entry with this id. Undefined, with a note, if the run has no such memory. */
  async forget(id: string, ctx: TurnContext): Promise<boolean | undefined> {
    const store = this.#storeOf(ctx);
    if (store === undefined) return undefined;
    const scope = ctx.scope(`forget:${ctx.id()}`);
    const isKnown = async (): Promise<boolean> => (await store.get([id]))[0] != null;
    const existed = await (store.remote
      ? scope.step("known", isKnown, { fingerprint: id })
      : isKnown());
    if (existed) store.write({ op: "forget", id });
    return existed;
  }

  clear(ctx: TurnContext): void {
    this.#storeOf(ctx)?.write({ op: "clear", collection: this.#options.collection });
  }

  #storeOf(ctx: TurnContext): MemoryStore | undefined {
    const { name, scope, otherwise } = this.#options;
    const store = ctx.memory.store(scope);
    if (store !== undefined) return store;
    const other = otherwise && ctx.memory.store(otherwise);
    const consequence = other
      ? `uses the memories of the ${otherwise}`
      : "recalls and stores nothing";
    const reason =
      scope === "user" ? "the run has no user" : `this server has no memories of the ${scope}`;
    ctx.note(`"${name}" ${consequence}: ${reason}`);
    return other;
  }

  /**
   * One step embeds the text and reads the store, also that of the team: speakers side by side may write to it meanwhile, and
   * a repeated turn must find the same. Undefined, with a note, if the text could not be embedded.
   */
  async #recallByMeaning(
    client: EmbeddingClient,
    asked: Omit<RecallQuery, "embedding">,
    store: MemoryStore,
    ctx: TurnContext,
  ): Promise<RecallResult | undefined> {
    try {
      const { hits, mode, note } = await ctx.step(
        "recall",
        async (attempt) => {
          const [[embedding], counted] = await embed(client, [asked.text], store, attempt);
          const found = await ofStore(store.recall({ ...asked, embedding }));
          return { ...found, ...counted };
        },
        stepOptions(client, [asked], [asked.text]),
      );
      if (note !== undefined) ctx.note(`"${this.#options.name}": ${note}`);
      return { hits, mode };
    } catch (error) {
      this.#noteFailure(error, "recalls by words only", ctx);
      return undefined;
    }
  }

  /** Empty, with a note, if the texts could not be embedded. */
  async #embedded(
    texts: readonly string[],
    store: MemoryStore,
    ctx: TurnContext,
  ): Promise<Embedding[]> {
    const { embedding: client } = this.#options;
    if (client === null) return [];
    try {
      return await embedInStep(client, texts, store, ctx);
    } catch (error) {
      this.#noteFailure(error, "stores words only", ctx);
      return [];
    }
  }

  #noteFailure(error: unknown, consequence: string, ctx: TurnContext): void {
    rethrowSignal(error);
    const isStore = error instanceof TroupeError && error.code === STORE_AWAY;
    const failed = isStore ? "its contents could not be read" : "embedding failed";
    ctx.note(`"${this.#options.name}" ${consequence}, because ${failed}: ${errorMessage(error)}`);
  }

  /**
   * The ids of the entries with the same texts, but for case, spaces and the last full stop.
   *
   * @throws ValueError when no more can be stored
   */
  async #known(
    texts: readonly string[],
    store: MemoryStore,
    ctx: TurnContext,
  ): Promise<(string | null)[]> {
    const { collection } = this.#options;
    const look = async (): Promise<{ ids: (string | null)[]; full?: string | undefined }> => {
      const ids: (string | null)[] = [];
      let reason: string | undefined;
      for (const text of texts) {
        const { hits, full } = await store.recall({ text, k: MOST_ALIKE, collection });
        reason = full;
        const same = hits.find(
          ({ entry }) => normalized(searchText(entry.content)) === normalized(text),
        );
        ids.push(same?.entry.id ?? null);
      }
      return { ids, ...(reason !== undefined && { full: reason }) };
    };
    const { ids, full } = await (store.remote
      ? ctx.step("alike", look, { fingerprint: sortedJson([...texts]) })
      : look());
    if (full !== undefined) throw new ValueError(full);
    return ids;
  }
}

function stepOptions(
  client: EmbeddingClient,
  subject: readonly unknown[],
  texts: readonly string[],
): Pick<StepOptions<unknown>, "kind" | "subject" | "fingerprint" | "estimate" | "retry"> {
  return {
    kind: "model",
    ...(client.subject && { subject: client.subject }),
    fingerprint: sortedJson(asJson([client.space, ...subject])),
    estimate: () =>
      Promise.resolve({
        model: client.subject?.name,
        prompt_tokens: texts.reduce((sum, text) => sum + textTokens(text), 0),
        completion_tokens: 0,
      }),
    retry: (error) => client.retryPolicy?.(error) ?? PATIENCE,
  };
}

/** Vectors are recorded as base64 of 32-bit numbers: as text they would be four times as long. */
async function embedInStep(
  client: EmbeddingClient,
  texts: readonly string[],
  store: MemoryStore,
  ctx: TurnContext,
): Promise<Embedding[]> {
  const { vectors } = await ctx.step(
    "embed",
    async (attempt) => {
      const [embeddings, counted] = await embed(client, texts, store, attempt);
      return { vectors: embeddings.map(({ values }) => encoded(values)), ...counted };
    },
    stepOptions(client, texts, texts),
  );
  return vectors.map((vector) => ({ space: client.space, values: decoded(vector) }));
}

/** Embeds the texts that are not stored with their vectors. */
async function embed(
  client: EmbeddingClient,
  texts: readonly string[],
  store: MemoryStore,
  { signal, idempotencyKey, trace }: StepAttempt,
): Promise<[Embedding[], Counted]> {
  const { space } = client;
  const stored = await ofStore(store.vectors(space, texts));
  const missing = texts.filter((_, index) => stored[index] == null);
  if (missing.length === 0) {
    return [stored.map((values) => ({ space, values: values ?? [] })), undefined];
  }
  const options = { signal, idempotencyKey, ...(trace && { trace }) };
  const { vectors, ...counted } = await client.embed(missing, options);
  const made = vectors.values();
  const embeddings = stored.map((values) => ({ space, values: values ?? made.next().value ?? [] }));
  return [embeddings, counted];
}

/** Names the store as what has failed, not the embedding beside it. */
async function ofStore<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (cause) {
    const error = new TroupeError(STORE_AWAY, errorMessage(cause), { cause });
    throw Object.assign(error, { retryable: isPassing(cause) });
  }
}

function encoded(values: readonly number[]): string {
  return toBase64(new Uint8Array(Float32Array.from(values).buffer));
}

function decoded(vector: string): number[] {
  return Array.from(new Float32Array(fromBase64(vector).buffer));
}

function normalized(text: string): string {
  const words = text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim();
  return trimEnd(words, ".。!！");
}
