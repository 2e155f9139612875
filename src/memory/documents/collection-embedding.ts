import type { ComponentModel } from "../../core/component/component-model.ts";
import { errorMessage } from "../../core/errors.ts";
import type { EmbeddingClient } from "../../core/memory/embedding-client.ts";
import type { CollectionResult, Embedding } from "../../core/memory/memory-host.ts";
import type { ComponentSecrets } from "../../secrets/component-secrets.ts";
import { type CollectionRecord, type DocumentRecord, isPending } from "./collection-store.ts";

/** The longest wait of a search for the vector of its question; then words alone decide. */
const QUESTION_TIMEOUT_MS = 20_000;

/** Ends the space of an embedding whose server has started to give vectors of another length, before that length. */
const OTHER_LENGTH = "#";

export interface CollectionEmbeddingHost {
  /** The collection's id. */
  id: string;
  secrets: ComponentSecrets;
  /** Builds an embedding client. @throws ComponentError */
  embedding: (component: ComponentModel) => Promise<EmbeddingClient>;
}

/** A client of an embedding, and its component with sealed secrets. */
export interface SealedEmbedding {
  component: ComponentModel;
  client: EmbeddingClient;
}

/** The embedding of a question, and its cost. */
interface EmbeddedQuestion {
  embedding?: Embedding;
  /** Why there is no vector. */
  note?: string;
  cost?: NonNullable<CollectionResult["embedding"]>;
}

/** The embedding of a collection: its client, the vectors of questions, and why documents have none. */
export class CollectionEmbedding {
  readonly #host: CollectionEmbeddingHost;
  #used: SealedEmbedding | undefined;

  constructor(host: CollectionEmbeddingHost) {
    this.#host = host;
  }

  /**
   * Checks an embedding that a request gives.
   *
   * @param before the present one, which has the secrets that the request leaves out
   * @throws ComponentError
   */
  async seal(given: ComponentModel, before: ComponentModel | null): Promise<SealedEmbedding> {
    const component = await this.#host.secrets.seal(given, before);
    return { component, client: await this.#build(component) };
  }

  /** The next requests use this embedding. Without one, they build a client of their own: the present one keeps the vectors that it got last. */
  use(embedding?: SealedEmbedding): void {
    this.#used = embedding;
  }

  async clientOf({ embedding }: CollectionRecord): Promise<EmbeddingClient> {
    if (embedding === null) throw new TypeError("the collection has no embedding");
    if (this.#used?.component !== embedding) {
      this.#used = { component: embedding, client: await this.#build(embedding) };
    }
    return this.#used.client;
  }

  async questionOf(record: CollectionRecord, q: string): Promise<EmbeddedQuestion> {
    const { space, dimensions } = record;
    if (space === null || dimensions === null) return {};
    try {
      const client = await this.clientOf(record);
      const signal = AbortSignal.timeout(QUESTION_TIMEOUT_MS);
      const { vectors, ...cost } = await client.embed([q], { signal });
      const [values = []] = vectors;
      if (values.length === dimensions) return { embedding: { space, values }, cost };
      return {
        cost,
        note: `Words only: the embedding server gave ${values.length} numbers for the question, and the documents have ${dimensions}. ${this.#howToEmbed()}`,
      };
    } catch (error) {
      return { note: `Words only: the question could not be embedded. ${errorMessage(error)}` };
    }
  }

  /** The present number of dimensions of a vector; undefined if nothing is stored to compare, or no answer comes. */
  async dimensionsNow(record: CollectionRecord): Promise<number | undefined> {
    if (record.space === null || record.dimensions === null) return undefined;
    try {
      const client = await this.clientOf(record);
      const signal = AbortSignal.timeout(QUESTION_TIMEOUT_MS);
      const { vectors } = await client.embed([this.#host.id], { signal });
      return vectors[0]?.length;
    } catch {
      // Embedding the documents fails for the same reason, which they then show.
      return undefined;
    }
  }

  /** The reason for which documents cannot be found by their meaning. */
  noteOn({ space }: CollectionRecord, documents: readonly DocumentRecord[]): string | null {
    if (space === null) return "Words only: the collection has no embedding.";
    const failed = documents.filter(({ error }) => error !== null);
    const [first] = failed;
    if (first !== undefined) {
      const others = failed.length > 1 ? ` and ${failed.length - 1} more` : "";
      return `Words only for "${first.id}"${others}: ${first.error}`;
    }
    const other = documents.filter((document) => document.space !== space).length;
    if (other > 0) {
      return `Words only for ${other} of ${documents.length} documents: they have no vectors of the present embedding. ${this.#howToEmbed()}`;
    }
    const pending = documents.filter(isPending).length;
    return pending === 0
      ? null
      : `${pending} of ${documents.length} documents are still being embedded.`;
  }

  async #build(sealed: ComponentModel): Promise<EmbeddingClient> {
    return this.#host.embedding(await this.#host.secrets.open(sealed));
  }

  #howToEmbed(): string {
    return `POST /v1/collections/${this.#host.id}/embed embeds them again.`;
  }
}

/** The space of a collection's vectors with an embedding, which keeps the present one where the embedding is the same. */
export function spaceWith(
  client: EmbeddingClient | undefined,
  present: string | null,
): string | null {
  const clientSpace = client?.space ?? null;
  return present !== null && baseOf(present) === clientSpace ? present : clientSpace;
}

/** The space of the same embedding with vectors of another length. */
export function spaceOfLength(space: string, dimensions: number): string {
  return `${baseOf(space)}${OTHER_LENGTH}${dimensions}`;
}

/** The space that the embedding client names. */
function baseOf(space: string): string {
  return space.split(OTHER_LENGTH, 1)[0] ?? space;
}
