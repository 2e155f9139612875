import { CodeExecutorAgent } from "../../agents/code-executor-agent.ts";
import { UserProxyAgent } from "../../agents/user-proxy-agent.ts";
import { SocietyOfMindAgent } from "../../agents/society-of-mind-agent.ts";
import { MessageFilterAgent } from "../../agents/message-filter-agent.ts";
import { HeadAndTailChatCompletionContext } from "../../context/head-and-tail-chat-completion-context.ts";
import { TokenLimitedChatCompletionContext } from "../../context/token-limited-chat-completion-context.ts";
import { WindowChatCompletionContext } from "../../context/window-chat-completion-context.ts";
import { ListMemory } from "../../memory/list-memory.ts";
import { FullTextMemory } from "../../memory/full-text-memory.ts";
import { ChatCompletionCache } from "../../models/chat-completion-cache.ts";
import { FallbackChatCompletionClient } from "../../models/fallback-chat-completion-client.ts";
import { InMemoryStore, DiskCacheStore, RedisStore } from "../../models/cache-store.ts";
import { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import { PythonCodeExecutionTool } from "../../tools/function/python-code-execution-tool.ts";
import { AgentTool } from "../../tools/agent-tool.ts";
import { TeamTool } from "../../tools/team-tool.ts";
import { functionToolDefinition } from "../../tools/function/function-tool-definition.ts";
import type { PythonHost } from "../../python/python-host.ts";
import type { ToolCatalog } from "../catalog.ts";
import type { AnyComponentDefinition } from "../component.ts";

/** Everything else: special agents, tools, memories, contexts and caches. */
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
    WindowChatCompletionContext.component,
    ListMemory.component,
    FullTextMemory.component,
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
