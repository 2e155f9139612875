import { AssistantAgent } from "../agents/assistant-agent.ts";
import { CodeExecutorAgent } from "../agents/code-executor-agent.ts";
import { MessageFilterAgent } from "../agents/message-filter-agent.ts";
import { SocietyOfMindAgent } from "../agents/society-of-mind-agent.ts";
import { UserProxyAgent } from "../agents/user-proxy-agent.ts";
import { AndTermination, OrTermination } from "../conditions/base-termination.ts";
import { ExternalTermination } from "../conditions/external-termination.ts";
import { FunctionCallTermination } from "../conditions/function-call-termination.ts";
import { FunctionalTermination } from "../conditions/functional-termination.ts";
import { HandoffTermination } from "../conditions/handoff-termination.ts";
import { MaxMessageTermination } from "../conditions/max-message-termination.ts";
import { SourceMatchTermination } from "../conditions/source-match-termination.ts";
import { StopMessageTermination } from "../conditions/stop-message-termination.ts";
import { TextMentionTermination } from "../conditions/text-mention-termination.ts";
import { TextMessageTermination } from "../conditions/text-message-termination.ts";
import { TimeoutTermination } from "../conditions/timeout-termination.ts";
import { TokenUsageTermination } from "../conditions/token-usage-termination.ts";
import { BufferedChatCompletionContext } from "../context/buffered-chat-completion-context.ts";
import { HeadAndTailChatCompletionContext } from "../context/head-and-tail-chat-completion-context.ts";
import { TokenLimitedChatCompletionContext } from "../context/token-limited-chat-completion-context.ts";
import { UnboundedChatCompletionContext } from "../context/unbounded-chat-completion-context.ts";
import { FullTextMemory } from "../memory/full-text-memory.ts";
import { ListMemory } from "../memory/list-memory.ts";
import { StructuredMessageFactory } from "../messages/structured-message-factory.ts";
import { DiskCacheStore, InMemoryStore, RedisStore } from "../models/cache-store.ts";
import { ChatCompletionCache } from "../models/chat-completion-cache.ts";
import { ReplayChatCompletionClient } from "../models/replay-chat-completion-client.ts";
import { GraphFlow } from "../teams/graph-flow/graph-flow.ts";
import { MagenticOneGroupChat } from "../teams/magentic-one/magentic-one-group-chat.ts";
import { RoundRobinGroupChat } from "../teams/round-robin.ts";
import { SelectorGroupChat } from "../teams/selector/selector-group-chat.ts";
import { Swarm } from "../teams/swarm.ts";
import { AgentTool } from "../tools/agent-tool.ts";
import { functionToolDefinition } from "../tools/function/function-tool-definition.ts";
import { StaticStreamWorkbench, StaticWorkbench } from "../tools/static-workbench.ts";
import { TeamTool } from "../tools/team-tool.ts";
import type { PythonHost } from "../python/python-host.ts";
import { PythonCodeExecutionTool } from "../tools/function/python-code-execution-tool.ts";
import type { ToolCatalog } from "./catalog.ts";
import type { AnyComponentDefinition } from "./component.ts";

/**
 * All components that need nothing but this library: no network, no platform. An app registers its model clients and
 * code executors beside them.
 *
 * @param catalog the tools that FunctionTools in component JSON refer to by name
 * @param python runs the Python source code of FunctionTools; without it they are refused
 * @param shipped tools for FunctionTools that have no source code and are not in `catalog`
 */
export function coreComponents(
  catalog: ToolCatalog,
  python?: PythonHost,
  shipped?: ToolCatalog,
): AnyComponentDefinition[] {
  return [
    AssistantAgent.component,
    CodeExecutorAgent.component,
    UserProxyAgent.component,
    SocietyOfMindAgent.component,
    MessageFilterAgent.component,
    RoundRobinGroupChat.component,
    GraphFlow.component,
    SelectorGroupChat.component,
    MagenticOneGroupChat.component,
    Swarm.component,
    AndTermination.component,
    OrTermination.component,
    ExternalTermination.component,
    FunctionCallTermination.component,
    FunctionalTermination.component,
    HandoffTermination.component,
    MaxMessageTermination.component,
    SourceMatchTermination.component,
    StopMessageTermination.component,
    TextMentionTermination.component,
    TextMessageTermination.component,
    TimeoutTermination.component,
    TokenUsageTermination.component,
    UnboundedChatCompletionContext.component,
    BufferedChatCompletionContext.component,
    HeadAndTailChatCompletionContext.component,
    TokenLimitedChatCompletionContext.component,
    ListMemory.component,
    FullTextMemory.component,
    ReplayChatCompletionClient.component,
    ChatCompletionCache.component,
    InMemoryStore.component,
    DiskCacheStore.component,
    RedisStore.component,
    StructuredMessageFactory.component,
    functionToolDefinition(catalog, python, shipped),
    PythonCodeExecutionTool.component,
    StaticWorkbench.component,
    StaticStreamWorkbench.component,
    AgentTool.component,
    TeamTool.component,
  ];
}
