import type { EmbeddingClient } from "../memory/embedding-client.ts";
import type { MemoryScope } from "../memory/memory-host.ts";
import { partsOf, type Stateful } from "../state/stateful.ts";

/** The entries that a memory compares by their meaning, and the client that embeds them. */
export interface EmbeddingUse {
  scope: MemoryScope;
  /** Null for all entries of the scope. */
  collection: string | null;
  client: EmbeddingClient;
}

/** The embeddings of the memories in a tree of agents and teams. */
export function embeddingsIn(root: Stateful): EmbeddingUse[] {
  return Array.from(partsOf(root), ([, part]) => (mayEmbed(part) ? part.embeds : undefined)).filter(
    (use) => use !== undefined,
  );
}

/** True for a `RecallMemory`, whose code the start of a Worker does not load. */
function mayEmbed(part: object): part is { embeds: EmbeddingUse | undefined } {
  return "embeds" in part;
}
