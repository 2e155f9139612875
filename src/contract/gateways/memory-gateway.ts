import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { MemoryContent } from "../../core/memory/memory-content.ts";
import type {
  CollectionResult,
  Embedding,
  MemoryChange,
  MemoryEntry,
  MemorySource,
  RecallQuery,
  RecallResult,
} from "../../core/memory/memory-host.ts";
import type { MetadataFilter } from "../../core/memory/metadata-filter.ts";
import type { TextLanguage } from "../../core/search/languages.ts";
import type { ChunkPage, CollectionInfo, DocumentInfo, DocumentPage } from "../files/collection.ts";
import type { Result } from "../result.ts";

/** A content that a person adds. */
export interface NewMemory {
  content: MemoryContent;
  /** The collection of a memory component; null for an entry of all of them. */
  collection?: string | null;
  embedding?: Embedding;
  /** For a request with an idempotency key: the id that each attempt gives the entry, and the hash of the body. */
  request?: { id: string; hash: string };
}

/** Fields that are left out stay as they are. */
export interface MemoryCorrection {
  content?: MemoryContent["content"];
  metadata?: JsonObject | null;
  embedding?: Embedding;
}

export interface MemoryPageQuery {
  limit: number;
  /** @see MemoryPage.next_cursor */
  cursor?: string;
  filter?: MetadataFilter;
}

/** Entries, newest first. */
export interface MemoryPage {
  memories: MemoryEntry[];
  next_cursor: string | null;
}

/**
 * The entries of one scope, as a person sees and changes them. The team's object has them for the scope `team`, an
 * object of their own for `user` and `tenant`. The ids are those of the entries: the API adds the scope to them.
 */
export interface MemoryCalls {
  memories(query: MemoryPageQuery): Promise<Result<MemoryPage>>;
  searchMemories(query: RecallQuery): Promise<Result<RecallResult>>;
  /** All or none. */
  addMemories(contents: readonly NewMemory[]): Promise<Result<MemoryEntry[]>>;
  memory(id: string): Promise<Result<MemoryEntry>>;
  changeMemory(id: string, changes: MemoryCorrection): Promise<Result<MemoryEntry>>;
  forgetMemory(id: string): Promise<Result<null>>;
  /** Takes back what a run has learned, also what is still on its way here. */
  forgetRun(run: string): Promise<Result<{ forgotten: number }>>;
  /**
   * Erases all entries and their vectors. What was learned before does not come back.
   *
   * @returns null for those that could not be read any more
   */
  eraseMemories(): Promise<Result<{ forgotten: number | null }>>;
}

/** The changes of a turn in one scope, in its order. */
export interface MemoryTurn {
  changes: readonly MemoryChange[];
  source: Omit<MemorySource, "message">;
  /** When the turn started, epoch milliseconds. What was erased later does not come back by it. */
  started_at: number;
}

/** The changes of a turn on their way from the team to the object of their scope. */
export interface MemoryOutboxEntry extends MemoryTurn {
  /** Increases. */
  number: number;
}

export interface MemoryDelivery {
  /** Differs for every team that was ever created, also under the same id. */
  creation: string;
  entries: readonly MemoryOutboxEntry[];
}

/** The object of a user's or a tenant's memories, as the teams see it. */
export interface MemoryOfTeam {
  /** Applies each entry exactly once. @returns the number of the last one that is applied */
  deliverMemories(delivery: MemoryDelivery): Promise<{ number: number }>;
  /** @param staged changes of the turn that asks, which it sees but which are not stored */
  recallMemories(query: RecallQuery, staged?: MemoryTurn): Promise<RecallResult>;
  /** Null for unknown ids. @param staged as in recallMemories */
  memoriesWith(ids: readonly string[], staged?: MemoryTurn): Promise<(MemoryEntry | null)[]>;
  /** The stored vectors of equal texts; null for a text without one. */
  memoryVectors(space: string, texts: readonly string[]): Promise<(readonly number[] | null)[]>;
}

/** Texts of entries of a user or of the tenant, and the space of the vectors that they need. */
export interface TextsToEmbed {
  scope: "user" | "tenant";
  space: string;
  texts: readonly string[];
}

/** `unused`: no memory of this scope in the team makes such vectors any more. */
export type EmbeddedTexts =
  | { is: "embedded"; vectors: number[][] }
  | { is: "unused" }
  | { is: "failed"; reason: string; retryable: boolean };

/** The object of a team, as those of memories see it. */
export interface TeamOfMemories {
  /** Embeds with the client that the team's own memories have: its key stays there. */
  embedTexts(request: TextsToEmbed): Promise<EmbeddedTexts>;
}

/** The part of a document that is searched and cited. */
export type DocumentChunk = ChunkPage["chunks"][number];

/** A document whose text was extracted and split outside of the object. */
export type PutDocument = Pick<DocumentInfo, "id" | "title" | "mime_type" | "metadata">;

/** The settings of a collection. */
export interface PutCollection {
  description: string | null;
  /** An embedding client, checked. */
  embedding: ComponentModel | null;
  /** The language of its documents. */
  language: TextLanguage;
}

/** One collection of documents: an object of its own. */
export interface CollectionGateway {
  putCollection(input: PutCollection): Promise<Result<CollectionInfo & { created: boolean }>>;
  collection(): Promise<Result<CollectionInfo>>;
  deleteCollection(): Promise<Result<null>>;
  /** Embeds what has no vector of the present embedding. */
  embedCollection(): Promise<Result<CollectionInfo>>;
  /** @param chunks lines of JSON, a {@link DocumentChunk} each: calls carry 32 MB at most */
  putDocument(
    document: PutDocument,
    chunks: ReadableStream<Uint8Array>,
  ): Promise<Result<DocumentInfo>>;
  document(id: string): Promise<Result<DocumentInfo>>;
  documents(query: { limit: number; cursor?: string }): Promise<Result<DocumentPage>>;
  /** Its parts in their order. */
  chunks(id: string, page: { from: number; limit: number }): Promise<Result<ChunkPage>>;
  deleteDocument(id: string): Promise<Result<null>>;
  /** Outside of a run, the collection itself counts the tokens of the question. */
  searchCollection(query: {
    q: string;
    k: number;
    filter?: MetadataFilter | null;
    in_run: boolean;
  }): Promise<Result<CollectionResult>>;
}

/** The memories of a user or of a tenant. */
export interface MemoryGateway extends MemoryCalls, MemoryOfTeam {}

/** Calls of runs that may be made twice: they read, or their entries are applied once, by their numbers. */
export const REPEATABLE_CALLS_OF_RUNS = [
  "deliverMemories",
  "recallMemories",
  "memoriesWith",
  "memoryVectors",
] as const satisfies readonly (keyof MemoryOfTeam)[];

/** Those of people. */
export const REPEATABLE_MEMORY_CALLS = [
  "memories",
  "searchMemories",
  "memory",
] as const satisfies readonly (keyof MemoryGateway)[];

export const REPEATABLE_COLLECTION_CALLS = [
  "collection",
  "document",
  "documents",
  "chunks",
  "searchCollection",
] as const satisfies readonly (keyof CollectionGateway)[];

/** Finds the objects of class `MemoryObject`. Their names begin with the tenant. */
export interface Memories {
  user(tenant: string, user: string): MemoryGateway;
  tenant(tenant: string): MemoryGateway;
  collection(tenant: string, name: string): CollectionGateway;
}
