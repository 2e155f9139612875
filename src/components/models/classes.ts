// A class of a component is named here only, as in core/registry/basic-classes.ts.
export { AnthropicChatCompletionClient } from "./anthropic/anthropic-client.ts";
export type { AnthropicChatCompletionClientOptions } from "./anthropic/config.ts";
export type { OllamaChatCompletionClientOptions } from "./ollama/config.ts";
export { OllamaChatCompletionClient } from "./ollama/ollama-client.ts";
export type { OpenAIAgentOptions } from "./openai/agent/config.ts";
export { OpenAIAgent } from "./openai/agent/openai-agent.ts";
export { AzureOpenAIChatCompletionClient } from "./openai/azure-client.ts";
export type {
  AzureOpenAIChatCompletionClientOptions,
  OpenAIChatCompletionClientOptions,
} from "./openai/config.ts";
export { OpenAIChatCompletionClient } from "./openai/openai-client.ts";
export type { WorkersAIChatCompletionClientOptions } from "./workers-ai/config.ts";
export { WorkersAIChatCompletionClient } from "./workers-ai/workers-ai-client.ts";
