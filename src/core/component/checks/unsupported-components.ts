const SERVER_CONVERSATION =
  "its conversation is stored by the model's host, so that a turn cannot be repeated after a crash";

/**
 * Reasons and replacements for the components of AutoGen 0.7.5 that need a process, a browser, a disk or a Python library, so that
 * the error for them says more than "unknown provider".
 */
const UNSUPPORTED_COMPONENTS: { readonly [module: string]: { readonly [name: string]: string } } = {
  "autogen_ext.agents.web_surfer": {
    MultimodalWebSurfer:
      "it controls a browser process. Use an AssistantAgent with an HttpTool that calls a browsing or search service",
  },
  "autogen_ext.agents.file_surfer": {
    FileSurfer:
      "it reads the disk of the machine. Use an AssistantAgent with a tool that reads from your storage",
  },
  "autogen_ext.agents.video_surfer": {
    VideoSurfer:
      "it runs video tools as processes. Use an AssistantAgent with an HttpTool that calls a video service",
  },
  "autogen_ext.agents.openai": {
    OpenAIAssistantAgent: `${SERVER_CONVERSATION}. Use an OpenAIAgent, which has OpenAI's own tools, or an AssistantAgent`,
  },
  "autogen_ext.agents.azure": {
    AzureAIAgent: `${SERVER_CONVERSATION}. Use an AssistantAgent with an AzureOpenAIChatCompletionClient`,
  },
  "autogen_ext.teams.magentic_one": {
    MagenticOne:
      "it brings agents that need a browser and a disk. Use a MagenticOneGroupChat with agents of your own",
  },
  "autogen_ext.models.anthropic": {
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
  "autogen_ext.memory.canvas": {
    TextCanvasMemory:
      "it stores its text in the memory of one process. Use a NotesMemory, whose notes the model sees and edits",
  },
  "autogen_ext.experimental.task_centric_memory": {
    MemoryController:
      "it stores its memories on disk. Use a VectorMemory, which can learn from runs, or a memory of your own",
  },
  "autogen_ext.experimental.task_centric_memory.utils": {
    Teachability:
      "it stores its memories on disk. Use a VectorMemory, which can learn from runs, or a memory of your own",
  },
  "autogen_ext.tools.mcp": {
    McpSessionActor: "it is the connection of an McpWorkbench. Use an McpWorkbench",
  },
  "autogen_ext.tools.azure": {
    AzureAISearchTool: "it wraps a Python library. Use an HttpTool that calls the search service",
    BaseAzureAISearchTool:
      "it wraps a Python library. Use an HttpTool that calls the search service",
  },
  "autogen_ext.tools.graphrag": {
    GlobalSearchTool:
      "it reads an index from disk. Use an HttpTool that calls a service with the index",
    LocalSearchTool:
      "it reads an index from disk. Use an HttpTool that calls a service with the index",
  },
  "autogen_ext.tools.langchain": {
    LangChainToolAdapter: "it wraps a Python object. Register a FunctionTool of the same name",
  },
  "autogen_ext.tools.semantic_kernel": {
    KernelFunctionFromTool: "it wraps a Python object. Register a FunctionTool of the same name",
  },
  "autogen_ext.auth.azure": {
    AzureTokenProvider:
      'it gets tokens from the Azure identity of the machine. Remove it and give the client an api_key or an azure_ad_token, for example "env:AZURE_OPENAI_API_KEY"',
  },
};

/** Why a component of AutoGen is not available here and what replaces it; undefined for all other names. */
export function whyUnsupported(provider: string): string | undefined {
  const dot = provider.lastIndexOf(".");
  const name = provider.slice(dot + 1);
  if (dot === -1) {
    const module = Object.values(UNSUPPORTED_COMPONENTS).find((names) =>
      Object.hasOwn(names, name),
    );
    return module?.[name];
  }
  const path = provider.slice(0, dot);
  const names = Object.hasOwn(UNSUPPORTED_COMPONENTS, path)
    ? UNSUPPORTED_COMPONENTS[path]
    : undefined;
  return names !== undefined && Object.hasOwn(names, name) ? names[name] : undefined;
}
