import { CodeExecutorAgent } from "../agents/code-executor-agent.ts";
import { UserProxyAgent } from "../agents/user-proxy-agent.ts";
import { SocietyOfMindAgent } from "../teams/society-of-mind-agent.ts";
import { MessageFilterAgent } from "../agents/message-filter-agent.ts";
import { HeadAndTailChatCompletionContext } from "../context/head-and-tail-chat-completion-context.ts";
import { TokenLimitedChatCompletionContext } from "../context/token-limited-chat-completion-context.ts";
import { SummaryChatCompletionContext } from "../context/summary-chat-completion-context.ts";
import { WindowChatCompletionContext } from "../context/window-chat-completion-context.ts";
import { ListMemory } from "../memories/list-memory.ts";
import { FullTextMemory } from "../memories/full-text-memory.ts";
import { CollectionMemory } from "../memories/collection-memory.ts";
import { NotesMemory } from "../memories/notes-memory.ts";
import { SharedStateMemory } from "../memories/shared-state-memory.ts";
import { SearchCollection } from "../memories/search-collection.ts";
import { VectorMemory } from "../memories/vector-memory.ts";
import { ChatCompletionCache } from "../models/clients/chat-completion-cache.ts";
import { FallbackChatCompletionClient } from "../models/clients/fallback-chat-completion-client.ts";
import { InMemoryStore, DiskCacheStore, RedisStore } from "../models/clients/cache-store.ts";
import { StructuredMessageFactory } from "../messages/structured-message-factory.ts";
import { PythonCodeExecutionTool } from "../tools/function/python-code-execution-tool.ts";
import { AgentTool } from "../teams/as-tools/agent-tool.ts";
import { TeamTool } from "../teams/as-tools/team-tool.ts";
import { functionToolDefinition } from "../tools/function/function-tool-definition.ts";
import type { PythonHost } from "../python/python-host.ts";
import type { ToolCatalog } from "../tools/catalog.ts";
import type { AnyComponentDefinition } from "../component/component.ts";

/** All other components: special agents, tools, memories, contexts and caches. */
export function furtherParts(
  catalog: ToolCatalog,
  python?: PythonHost,
  shipped?: ToolCatalog,
): AnyComponentDefinition[] {
  return [
    CodeExecutorAgent.component,
    UserProxyAgent.component,
    SocietyOfMindAgent.component,
    MessageFilterAgent.component,
    HeadAndTailChatCompletionContext.component,
    TokenLimitedChatCompletionContext.component,
    SummaryChatCompletionContext.component,
    WindowChatCompletionContext.component,
    ListMemory.component,
    FullTextMemory.component,
    VectorMemory.component,
    NotesMemory.component,
    SharedStateMemory.component,
    CollectionMemory.component,
    SearchCollection.component,
    ChatCompletionCache.component,
    FallbackChatCompletionClient.component,
    InMemoryStore.component,
    DiskCacheStore.component,
    RedisStore.component,
    StructuredMessageFactory.component,
    PythonCodeExecutionTool.component,
    AgentTool.component,
    TeamTool.component,
    functionToolDefinition(catalog, python, shipped),
  ];
}
