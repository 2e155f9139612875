import type { EmbeddingClient } from "../memory/embedding-client.ts";
import type { MemoryScope } from "../memory/memory-host.ts";
import { partsOf, type Stateful } from "../state/stateful.ts";

/** Which entries a memory compares by their meaning, and with which client. */
export interface EmbeddingUse {
  scope: MemoryScope;
  /** Null for all entries of the scope. */
  collection: string | null;
  client: EmbeddingClient;
}

/** How the memories in a tree of agents and teams embed their contents. */
export function embeddingsIn(root: Stateful): EmbeddingUse[] {
  return Array.from(partsOf(root), ([, part]) => (mayEmbed(part) ? part.embeds : undefined)).filter(
    (use) => use !== undefined,
  );
}

/** Whether it is a `RecallMemory`, whose code the start of a Worker does not load. */
function mayEmbed(part: object): part is { embeds: EmbeddingUse | undefined } {
  return "embeds" in part;
}
