/**
 * AutoGen's components that need a process, a browser, a disk or a Python library, and what does their job here. Named,
 * so that whoever brings a component from AutoGen reads more than "unknown".
 */
const NOT_HERE: { readonly [module: string]: { readonly [name: string]: string } } = {
  "autogen_ext.agents.web_surfer": {
    MultimodalWebSurfer:
      "it drives a browser process. Use an AssistantAgent with an HttpTool that asks a browsing or search service",
  },
  "autogen_ext.agents.file_surfer": {
    FileSurfer:
      "it reads the disk of its machine. Use an AssistantAgent with a tool that reads from your storage",
  },
  "autogen_ext.agents.video_surfer": {
    VideoSurfer:
      "it runs video tools as processes. Use an AssistantAgent with an HttpTool that asks a service for them",
  },
  "autogen_ext.agents.openai": {
    OpenAIAgent:
      "its conversation is kept by OpenAI, where a turn cannot be repeated. Use an AssistantAgent with an OpenAIChatCompletionClient",
    OpenAIAssistantAgent:
      "its conversation is kept by OpenAI, where a turn cannot be repeated. Use an AssistantAgent with an OpenAIChatCompletionClient",
  },
  "autogen_ext.agents.azure": {
    AzureAIAgent:
      "its conversation is kept by Azure, where a turn cannot be repeated. Use an AssistantAgent with an AzureOpenAIChatCompletionClient",
  },
  "autogen_ext.agents.magentic_one": {
    MagenticOneCoderAgent:
      "it is an AssistantAgent with a fixed prompt. Use an AssistantAgent with a system message of your own",
  },
  "autogen_ext.teams.magentic_one": {
    MagenticOne:
      "it brings agents that need a browser and a disk. Use a MagenticOneGroupChat with agents of your own",
  },
  "autogen_ext.models.anthropic": {
    AnthropicChatCompletionClient:
      "use an OpenAIChatCompletionClient with the base_url of Anthropic's OpenAI-compatible API",
    AnthropicBedrockChatCompletionClient:
      "use an OpenAIChatCompletionClient with the base_url of an OpenAI-compatible gateway to Bedrock",
  },
  "autogen_ext.models.azure": {
    AzureAIChatCompletionClient:
      "use an OpenAIChatCompletionClient with the base_url of the model's OpenAI-compatible endpoint",
  },
  "autogen_ext.models.llama_cpp": {
    LlamaCppChatCompletionClient:
      "it loads a model into its own process. Use an OpenAIChatCompletionClient with the base_url of a llama.cpp server",
  },
  "autogen_ext.models.semantic_kernel": {
    SKChatCompletionAdapter:
      "it wraps a Python library. Use an OpenAIChatCompletionClient or an OllamaChatCompletionClient",
  },
  "autogen_ext.memory.chromadb": {
    ChromaDBVectorMemory:
      "it keeps its index on disk or in a Python client. Use a FullTextMemory, or a memory of your own that asks a vector store in a step",
  },
  "autogen_ext.memory.redis_memory": {
    RedisMemory:
      "it needs a connection to Redis. Use a FullTextMemory, or a memory of your own that asks a store over HTTP in a step",
  },
  "autogen_ext.memory.mem0": {
    Mem0Memory:
      "it wraps a Python library. Use a FullTextMemory, or a memory of your own that asks Mem0 over HTTP in a step",
  },
  "autogen_ext.memory.canvas": {
    TextCanvasMemory: "it lives in one process. Use a FullTextMemory or a memory of your own",
  },
  "autogen_ext.tools.mcp": {
    StdioMcpToolAdapter:
      "it starts its server as a process. Use an HttpTool, or register the tool in code",
    SseMcpToolAdapter: "use an HttpTool, or register the tool in code",
    StreamableHttpMcpToolAdapter: "use an HttpTool, or register the tool in code",
    McpWorkbench:
      "a server that is started as a process cannot run here. Use an HttpTool, or register the tools in code",
  },
  "autogen_ext.tools.azure": {
    AzureAISearchTool: "it wraps a Python library. Use an HttpTool that asks the search service",
  },
  "autogen_ext.tools.graphrag": {
    GlobalSearchTool:
      "it reads an index from disk. Use an HttpTool that asks a service with the index",
    LocalSearchTool:
      "it reads an index from disk. Use an HttpTool that asks a service with the index",
  },
  "autogen_ext.tools.langchain": {
    LangChainToolAdapter: "it wraps a Python object. Register a FunctionTool of the same name",
  },
  "autogen_ext.tools.semantic_kernel": {
    KernelFunctionFromTool: "it wraps a Python object. Register a FunctionTool of the same name",
  },
  "autogen_ext.auth.azure": {
    AzureTokenProvider:
      "it takes tokens from its machine. Give the model client an api_key: `env:NAME`",
  },
};

/** Why a component of AutoGen cannot exist here and what to use; undefined for every other name. */
export function whyNotHere(provider: string): string | undefined {
  const dot = provider.lastIndexOf(".");
  const name = provider.slice(dot + 1);
  if (dot === -1) {
    const module = Object.values(NOT_HERE).find((names) => Object.hasOwn(names, name));
    return module?.[name];
  }
  const path = provider.slice(0, dot);
  const names = Object.hasOwn(NOT_HERE, path) ? NOT_HERE[path] : undefined;
  return names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
}
