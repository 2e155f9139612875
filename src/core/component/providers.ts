/** Additional names under which AutoGen knows its classes. */
export const WELL_KNOWN_PROVIDERS: ReadonlyMap<string, string> = new Map([
  ["openai_chat_completion_client", "autogen_ext.models.openai.OpenAIChatCompletionClient"],
  ["OpenAIChatCompletionClient", "autogen_ext.models.openai.OpenAIChatCompletionClient"],
  [
    "azure_openai_chat_completion_client",
    "autogen_ext.models.openai.AzureOpenAIChatCompletionClient",
  ],
  ["AzureOpenAIChatCompletionClient", "autogen_ext.models.openai.AzureOpenAIChatCompletionClient"],
  ["autogen_ext.memory.redis.RedisMemory", "autogen_ext.memory.redis_memory.RedisMemory"],
  ["AnthropicChatCompletionClient", "autogen_ext.models.anthropic.AnthropicChatCompletionClient"],
  ["OllamaChatCompletionClient", "autogen_ext.models.ollama.OllamaChatCompletionClient"],
]);

/** AutoGen's public classes that are not components, by module; naming one gets its own error. */
const OTHER_CLASSES: { readonly [module: string]: string } = {
  "autogen_agentchat.messages":
    "AgentEvent BaseMessage ChatMessage BaseChatMessage BaseAgentEvent BaseTextChatMessage StructuredMessage HandoffMessage MultiModalMessage StopMessage TextMessage ToolCallExecutionEvent ToolCallRequestEvent ToolCallSummaryMessage MemoryQueryEvent UserInputRequestedEvent ModelClientStreamingChunkEvent ThoughtEvent SelectSpeakerEvent MessageFactory CodeGenerationEvent CodeExecutionEvent",
  "autogen_agentchat.base":
    "ChatAgent Response Team TerminatedException TerminationCondition TaskResult TaskRunner Handoff",
  "autogen_agentchat.agents":
    "BaseChatAgent MessageFilterConfig PerSourceFilter ApprovalRequest ApprovalResponse",
  "autogen_agentchat.teams": "BaseGroupChat DiGraphBuilder DiGraph DiGraphNode DiGraphEdge",
  "autogen_agentchat.state":
    "BaseState AssistantAgentState BaseGroupChatManagerState ChatAgentContainerState RoundRobinManagerState SelectorManagerState SwarmManagerState MagenticOneOrchestratorState TeamState SocietyOfMindAgentState",
  "autogen_agentchat.ui": "Console UserInputManager",
  autogen_core:
    "Agent AgentId AgentProxy AgentRuntime BaseAgent CancellationToken TopicId MessageContext AgentType Image RoutedAgent ClosureAgent FunctionCall SingleThreadedAgentRuntime Component ComponentBase ComponentLoader ComponentModel",
  "autogen_core.tools":
    "Tool StreamTool ToolSchema ParametersSchema BaseTool BaseToolWithState BaseStreamTool Workbench ToolResult TextResultContent ImageResultContent ToolOverride",
  "autogen_core.models":
    "ChatCompletionClient SystemMessage UserMessage AssistantMessage FunctionExecutionResult FunctionExecutionResultMessage RequestUsage CreateResult TopLogprob ChatCompletionTokenLogprob ModelFamily ModelInfo",
  "autogen_core.memory":
    "Memory MemoryContent MemoryQueryResult UpdateContextResult MemoryMimeType",
  "autogen_core.model_context": "ChatCompletionContext ChatCompletionContextState",
  "autogen_core.code_executor": "CodeBlock CodeExecutor CodeResult",
};

/** True if AutoGen has a class with this provider name that is not a component. */
export function isOtherAutoGenClass(provider: string): boolean {
  const dot = provider.lastIndexOf(".");
  const names = Object.hasOwn(OTHER_CLASSES, provider.slice(0, Math.max(0, dot)))
    ? OTHER_CLASSES[provider.slice(0, dot)]
    : undefined;
  return names?.split(" ").includes(provider.slice(dot + 1)) ?? false;
}

/**
 * The public name of a class given by its private module: AutoGen also imports
 * `agents._assistant_agent.AssistantAgent`.
 */
export function publicProvider(provider: string): string {
  const segments = provider.split(".");
  return segments
    .filter((segment, index) => index === segments.length - 1 || !segment.startsWith("_"))
    .join(".");
}

/** The bare class name of a provider. */
export function className(provider: string): string {
  return provider.slice(provider.lastIndexOf(".") + 1);
}
