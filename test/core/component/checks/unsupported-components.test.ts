// The components of AutoGen 0.7.5 (its classes with a public provider name) that this library does not have.
import { expect, test } from "vitest";
import { Catalog, ComponentRegistry, coreComponents, openAIComponents } from "troupe";

const registry = new ComponentRegistry().register(
  ...coreComponents(new Catalog()),
  ...openAIComponents(),
);

test.each([
  "agents.azure.AzureAIAgent",
  "agents.file_surfer.FileSurfer",
  "agents.openai.OpenAIAssistantAgent",
  "agents.video_surfer.VideoSurfer",
  "agents.web_surfer.MultimodalWebSurfer",
  "auth.azure.AzureTokenProvider",
  "experimental.task_centric_memory.MemoryController",
  "experimental.task_centric_memory.utils.Teachability",
  "memory.canvas.TextCanvasMemory",
  "models.anthropic.AnthropicBedrockChatCompletionClient",
  "models.azure.AzureAIChatCompletionClient",
  "models.llama_cpp.LlamaCppChatCompletionClient",
  "models.semantic_kernel.SKChatCompletionAdapter",
  "teams.magentic_one.MagenticOne",
  "tools.azure.AzureAISearchTool",
  "tools.azure.BaseAzureAISearchTool",
  "tools.graphrag.GlobalSearchTool",
  "tools.graphrag.LocalSearchTool",
  "tools.langchain.LangChainToolAdapter",
  "tools.mcp.McpSessionActor",
  "tools.semantic_kernel.KernelFunctionFromTool",
])("autogen_ext.%s is refused with its replacement", (name) => {
  const provider = `autogen_ext.${name}`;
  expect(registry.validate({ provider, config: {} })).toEqual([
    {
      path: "component.provider",
      message: expect.stringMatching(/not available here: .*(use|register|give) /i),
    },
  ]);
});
