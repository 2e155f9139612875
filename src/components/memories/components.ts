import type { AnyComponentDefinition } from "../../core/component/component.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { chromaDBDefinition } from "./chromadb-vector-memory.ts";
import { mem0Definition } from "./mem0-memory.ts";
import { redisMemoryDefinition } from "./redis-memory.ts";

/** The memories of AutoGen's extensions as components. */
export function memoryComponents(
  dependencies: OutgoingDependencies = {},
): AnyComponentDefinition[] {
  return [chromaDBDefinition(dependencies), redisMemoryDefinition, mem0Definition];
}
