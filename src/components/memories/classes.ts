// A class of a component is named here only, as in core/registry/basic-classes.ts.
export {
  ChromaDBVectorMemory,
  type ChromaDBVectorMemoryOptions,
} from "./chromadb-vector-memory.ts";
export { Mem0Memory, type Mem0MemoryOptions } from "./mem0-memory.ts";
export { RedisMemory, type RedisMemoryOptions } from "./redis-memory.ts";
