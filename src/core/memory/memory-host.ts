import type { EmbeddingResult } from "./embedding-client.ts";
import type { MemoryContent } from "./memory-content.ts";
import type { TextLanguage } from "../search/languages.ts";
import type { SkillSource } from "../skills/skill-source.ts";
import type { MetadataFilter } from "./metadata-filter.ts";

/** The owner of a memory: the team, the run's user over all teams, or the tenant. */
export type MemoryScope = "team" | "user" | "tenant";

/** The run, turn and message that an entry was learned from. `message` is null if no single message was its source. */
export interface MemorySource {
  team: string;
  run: string;
  turn: number;
  message: string | null;
}

/** A stored content. A person's own entry has no source. */
export interface MemoryEntry extends MemoryContent {
  id: string;
  source: MemorySource | null;
  /** ISO 8601 UTC. */
  created_at: string;
}

/** A text's vector. `space` names its embedding (model, dimensions, address): only vectors of one space are compared. */
export interface Embedding {
  space: string;
  values: readonly number[];
}

export interface RecallQuery {
  text: string;
  /** Without it, words alone decide. */
  embedding?: Embedding | undefined;
  /** The most entries to return. */
  k: number;
  /** Entries of this collection and those without one; null for all entries of the scope. */
  collection: string | null;
  filter?: MetadataFilter | null | undefined;
  /** The language of the text. Default: that of any entry. */
  language?: TextLanguage | undefined;
  /** `latest` ignores the text and returns the newest entries. Default `best`. */
  order?: "best" | "latest" | undefined;
}

/** A recalled entry. */
export interface Recalled {
  entry: MemoryEntry;
  /** The merged score by reciprocal rank; more is better. */
  score: number;
  /** Cosine similarity to the query, -1 to 1; null without vectors of the query's space. */
  similarity: number | null;
  /** BM25 of the words; null if it shares none with the query. */
  words: number | null;
}

export interface RecallResult {
  hits: Recalled[];
  /** `words` if no vectors were compared. */
  mode: "hybrid" | "words";
  /** Why nothing more can be stored; only where that is so. */
  full?: string;
  /** The parts that could not be searched, and why. */
  note?: string;
}

/** A change that a turn makes. Putting an id that exists replaces its entry. */
export type MemoryChange =
  | {
      op: "put";
      id: string;
      content: MemoryContent;
      collection: string | null;
      /** The id of the message it was learned from. */
      message: string | null;
      embedding?: Embedding | undefined;
      /** The language of its words. Default: what the content looks like. */
      language?: TextLanguage | undefined;
    }
  | { op: "forget"; id: string }
  | { op: "clear"; collection: string | null };

/** The entries of one scope. */
export interface MemoryStore {
  /** In another object than the team's: call it inside a step. */
  readonly remote: boolean;
  recall(query: RecallQuery): Promise<RecallResult>;
  /** The entries with these ids; null for unknown ones. */
  get(ids: readonly string[]): Promise<(MemoryEntry | null)[]>;
  /** The stored vectors of equal texts, so that no text is embedded twice. */
  vectors(space: string, texts: readonly string[]): Promise<(readonly number[] | null)[]>;
  /** Stages a change: later reads of the turn see it, and it is stored when the turn commits. */
  write(change: MemoryChange): void;
}

/** A found part of a document. */
export interface FoundChunk {
  document: string;
  /** The number of the part in its document, from 0. */
  chunk: number;
  /** The headings above it, joined by " > "; null without any. */
  heading: string | null;
  /** From 1; null in documents without pages. */
  page: number | null;
  content: string;
  /** The cosine similarity to the question; BM25 for parts without a vector. */
  score: number;
}

/** The source of an answer: a part of a document. */
export interface Citation {
  collection: string;
  document: string;
  /** The number of the part in its document, from 0. */
  chunk: number;
  heading: string | null;
  /** From 1; null in documents without pages. */
  page: number | null;
}

export interface CollectionResult {
  results: FoundChunk[];
  mode: "hybrid" | "words";
  /** Why only words were compared, or what could not be searched. */
  note?: string;
  /** The cost of the question's vector; absent if none was made. */
  embedding?: Omit<EmbeddingResult, "vectors">;
}

/** Documents of the tenant. Call it inside a step. The collection embeds the query itself. */
export interface CollectionReader {
  search(query: {
    q: string;
    k: number;
    filter?: MetadataFilter | null | undefined;
  }): Promise<CollectionResult>;
}

/** The data that turns read and write beyond their state. */
export interface MemoryHost {
  /** A part of the marks of recalled data that outsiders cannot guess: letters and digits, the same in every prompt of the team. */
  readonly mark: string;
  /** Undefined for `user` in a run without a user, and for `user` and `tenant` on hosts without such memories. */
  store(scope: MemoryScope): MemoryStore | undefined;
  /** Undefined on hosts without collections. @throws at its first search if there is no such collection */
  collection(name: string): CollectionReader | undefined;
  /** The skills of the tenant; undefined on hosts without any. */
  readonly skills?: SkillSource | undefined;
}
