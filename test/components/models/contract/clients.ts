import type { ChatCompletionClient, ModelInfo } from "troupe";
import {
  AnthropicChatCompletionClient,
  OllamaChatCompletionClient,
  OpenAIChatCompletionClient,
  WorkersAIChatCompletionClient,
} from "troupe";
import { aiBinding } from "../support.ts";

/** Settings that every model client has, by names of their own. */
export interface ClientSettings {
  model?: string;
  modelInfo?: ModelInfo;
  /** Seconds. */
  timeout?: number;
  headers?: Record<string, string>;
  thoughtTags?: "thought" | "text";
}

export interface TestedClient {
  name: string;
  /** Whether its API can have log probabilities. */
  logprobs: boolean;
  /** Whether it sends secrets of its config. */
  secrets: boolean;
  /** A client of the server at `origin`. */
  connect(origin: string, settings?: ClientSettings): ChatCompletionClient;
}

/** The clients that keep the contract of a model client over HTTP. */
export const CLIENTS: readonly TestedClient[] = [
  {
    name: "OpenAI",
    logprobs: true,
    secrets: true,
    connect: (origin, { model = "gpt-4o", modelInfo, headers, ...settings } = {}) =>
      new OpenAIChatCompletionClient({
        model,
        apiKey: "q-test-key",
        baseURL: `${origin}/v1`,
        ...(modelInfo && { modelInfo }),
        ...(headers && { defaultHeaders: headers }),
        ...settings,
      }),
  },
  {
    name: "OpenAI's Responses API",
    logprobs: true,
    secrets: true,
    connect: (origin, { model = "gpt-5.6", modelInfo, headers, ...settings } = {}) =>
      new OpenAIChatCompletionClient({
        model,
        api: "responses",
        apiKey: "q-test-key",
        baseURL: `${origin}/v1`,
        ...(modelInfo && { modelInfo }),
        ...(headers && { defaultHeaders: headers }),
        ...settings,
      }),
  },
  {
    name: "Ollama",
    logprobs: true,
    secrets: true,
    connect: (origin, { model = "qwen3", modelInfo, headers, ...settings } = {}) =>
      new OllamaChatCompletionClient({
        model,
        host: origin,
        headers: { authorization: "Bearer q-test-key", ...headers },
        ...(modelInfo && { modelInfo }),
        ...settings,
      }),
  },
  {
    name: "Anthropic",
    logprobs: false,
    secrets: true,
    connect: (origin, { model = "claude-sonnet-4-5", modelInfo, headers, ...settings } = {}) =>
      new AnthropicChatCompletionClient({
        model,
        apiKey: "q-test-key",
        baseURL: origin,
        ...(modelInfo && { modelInfo }),
        ...(headers && { defaultHeaders: headers }),
        ...settings,
      }),
  },
  {
    name: "Workers AI",
    logprobs: true,
    secrets: false,
    connect: (
      origin,
      { model = "@cf/openai/gpt-oss-120b", modelInfo, timeout, thoughtTags } = {},
    ) =>
      new WorkersAIChatCompletionClient(
        { model, modelInfo, timeout, thoughtTags },
        { ai: aiBinding(origin) },
      ),
  },
];
