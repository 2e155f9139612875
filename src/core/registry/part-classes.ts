// Special agents, tools, memories, contexts and caches. A class is named here only, as in basic-classes.ts.
export { CodeExecutorAgent } from "../agents/code-executor/code-executor-agent.ts";
export {
  type InputFunction,
  UserProxyAgent,
  type UserProxyAgentOptions,
} from "../agents/user-proxy-agent.ts";
export {
  SocietyOfMindAgent,
  type SocietyOfMindAgentOptions,
} from "../teams/society-of-mind-agent.ts";
export {
  MessageFilterAgent,
  type MessageFilterAgentOptions,
  type MessageFilterConfig,
} from "../agents/message-filter-agent.ts";
export {
  HeadAndTailChatCompletionContext,
  type HeadAndTailOptions,
} from "../context/head-and-tail-chat-completion-context.ts";
export {
  TokenLimitedChatCompletionContext,
  type TokenLimitedOptions,
} from "../context/token-limited-chat-completion-context.ts";
export {
  SummaryChatCompletionContext,
  type SummaryContextOptions,
} from "../context/summary-chat-completion-context.ts";
export {
  WindowChatCompletionContext,
  type WindowOptions,
} from "../context/window-chat-completion-context.ts";
export { ListMemory } from "../memories/list-memory.ts";
export {
  FullTextMemory,
  type FullTextMemoryOptions,
  type FullTextQueryOptions,
} from "../memories/full-text-memory.ts";
export {
  type ExtractOptions,
  VectorMemory,
  type VectorMemoryOptions,
} from "../memories/vector-memory.ts";
export { NotesMemory, type NotesMemoryOptions } from "../memories/notes-memory.ts";
export {
  SharedStateMemory,
  type SharedStateMemoryOptions,
} from "../memories/shared-state-memory.ts";
export { TaskBoard, type TaskBoardOptions } from "../memories/task-board.ts";
export { CollectionMemory, type CollectionMemoryOptions } from "../memories/collection-memory.ts";
export { SearchCollection, type SearchCollectionOptions } from "../memories/search-collection.ts";
export { ChatCompletionCache } from "../models/clients/chat-completion-cache.ts";
export { FallbackChatCompletionClient } from "../models/clients/fallback-chat-completion-client.ts";
export {
  type CacheStore,
  type CacheStoreLimits,
  DiskCacheStore,
  type DiskCacheStoreOptions,
  InMemoryStore,
  type InMemoryStoreOptions,
  RedisStore,
  type RedisStoreOptions,
  type TeamCacheStore,
} from "../models/clients/cache-store.ts";
export {
  StructuredMessageFactory,
  type StructuredMessageFactoryOptions,
  type StructuredMessageFields,
} from "../messages/structured-message-factory.ts";
export { PythonCodeExecutionTool } from "../tools/function/python-code-execution-tool.ts";
export { AgentTool } from "../teams/as-tools/agent-tool.ts";
export { type TeamComponent, TeamTool, type TeamToolOptions } from "../teams/as-tools/team-tool.ts";
