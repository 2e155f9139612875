import type { ToolCatalog } from "../core/tools/catalog.ts";
import type { ComponentGroup } from "../core/registry/lazy-components.ts";
import type { ModelDependencies } from "./models/workers-ai/binding.ts";
import type { SandboxAddress } from "./sandbox/client/sandbox-connection.ts";

/** Dependencies of components and templates on their deployment. */
export interface GroupDependencies extends ModelDependencies {
  /** The tools registered in code. */
  catalog: ToolCatalog;
  sandbox: SandboxAddress | undefined;
  /** The tools of the templates that Troupe ships. */
  shipped: () => Promise<ToolCatalog>;
}

/** The components of the service, grouped by the modules that contain their code. */
export function componentGroups(dependencies: GroupDependencies): ComponentGroup[] {
  const { catalog, sandbox, shipped } = dependencies;
  return [
    {
      providers: [
        ...named("autogen_agentchat", "agents.AssistantAgent", "teams.RoundRobinGroupChat"),
        ...named("autogen_agentchat.base", "AndTerminationCondition", "OrTerminationCondition"),
        ...named(
          "autogen_agentchat.conditions",
          "ExternalTermination",
          "FunctionCallTermination",
          "FunctionalTermination",
          "HandoffTermination",
          "MaxMessageTermination",
          "SourceMatchTermination",
          "StopMessageTermination",
          "TextMentionTermination",
          "TextMessageTermination",
          "TimeoutTermination",
          "TokenUsageTermination",
        ),
        ...named(
          "autogen_core.model_context",
          "UnboundedChatCompletionContext",
          "BufferedChatCompletionContext",
        ),
        "autogen_ext.models.replay.ReplayChatCompletionClient",
        ...named("autogen_core.tools", "StaticWorkbench", "StaticStreamWorkbench"),
      ],
      load: async () => (await import("../core/registry/basic-components.ts")).basicComponents(),
    },
    {
      providers: named(
        "autogen_agentchat.teams",
        "GraphFlow",
        "SelectorGroupChat",
        "MagenticOneGroupChat",
        "Swarm",
      ),
      load: async () => (await import("../core/registry/teams-components.ts")).furtherTeams(),
    },
    {
      providers: [
        ...named(
          "autogen_agentchat.agents",
          "CodeExecutorAgent",
          "UserProxyAgent",
          "SocietyOfMindAgent",
          "MessageFilterAgent",
        ),
        ...named(
          "autogen_core",
          "model_context.HeadAndTailChatCompletionContext",
          "model_context.TokenLimitedChatCompletionContext",
          "memory.ListMemory",
          "InMemoryStore",
          "tools.FunctionTool",
        ),
        ...named(
          "troupe.memory",
          "CollectionMemory",
          "FullTextMemory",
          "NotesMemory",
          "SharedStateMemory",
          "VectorMemory",
        ),
        "troupe.tools.SearchCollection",
        ...named(
          "troupe.model_context",
          "SummaryChatCompletionContext",
          "WindowChatCompletionContext",
        ),
        "troupe.models.FallbackChatCompletionClient",
        ...named(
          "autogen_ext",
          "models.cache.ChatCompletionCache",
          "cache_store.diskcache.DiskCacheStore",
          "cache_store.redis.RedisStore",
          "tools.code_execution.PythonCodeExecutionTool",
        ),
        ...named(
          "autogen_agentchat",
          "messages.StructuredMessageFactory",
          "tools.AgentTool",
          "tools.TeamTool",
        ),
      ],
      async load() {
        const { furtherParts } = await import("../core/registry/parts-components.ts");
        const { sandboxPython } = await import("./sandbox/deployed.ts");
        return furtherParts(
          catalog,
          sandbox && sandboxPython(sandbox, {}, dependencies),
          await shipped(),
        );
      },
    },
    {
      providers: [
        ...named(
          "autogen_ext.models",
          "openai.OpenAIChatCompletionClient",
          "openai.AzureOpenAIChatCompletionClient",
          "anthropic.AnthropicChatCompletionClient",
          "ollama.OllamaChatCompletionClient",
        ),
        "autogen_ext.agents.openai.OpenAIAgent",
        "troupe.models.WorkersAIChatCompletionClient",
      ],
      load: async () => (await import("./models/components.ts")).openAIComponents(dependencies),
    },
    {
      providers: named("troupe.embeddings", "OpenAIEmbeddingClient", "WorkersAIEmbeddingClient"),
      load: async () =>
        (await import("./embeddings/components.ts")).embeddingComponents(dependencies),
    },
    {
      providers: named(
        "autogen_ext.memory",
        "chromadb.ChromaDBVectorMemory",
        "redis_memory.RedisMemory",
        "mem0.Mem0Memory",
      ),
      load: async () => (await import("./memories/components.ts")).memoryComponents(dependencies),
    },
    {
      providers: ["autogen_ext.tools.http.HttpTool"],
      load: async () =>
        (await import("./http-tool/components.ts")).httpToolComponents(dependencies),
    },
    {
      providers: ["troupe.agents.A2AAgent"],
      load: async () => (await import("./a2a/components.ts")).a2aComponents(dependencies),
    },
    {
      providers: named(
        "autogen_ext.tools.mcp",
        "McpWorkbench",
        "StdioMcpToolAdapter",
        "SseMcpToolAdapter",
        "StreamableHttpMcpToolAdapter",
        "McpSessionHost",
        "ChatCompletionClientSampler",
        "StdioElicitor",
        "StaticRootsProvider",
      ),
      load: async () => (await import("./mcp/components.ts")).mcpComponents(dependencies),
    },
    {
      providers: [
        "troupe.code_executors.SandboxCodeExecutor",
        ...named(
          "autogen_ext.code_executors",
          "local.LocalCommandLineCodeExecutor",
          "docker.DockerCommandLineCodeExecutor",
          "jupyter.JupyterCodeExecutor",
          "docker_jupyter.DockerJupyterCodeExecutor",
          "azure.ACADynamicSessionsCodeExecutor",
        ),
      ],
      load: async () =>
        (await import("./sandbox/deployed.ts")).sandboxComponents(sandbox, dependencies),
    },
  ];
}

function named(module: string, ...classes: readonly string[]): string[] {
  return classes.map((name) => `${module}.${name}`);
}
