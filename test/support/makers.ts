import type { ComponentModel } from "troupe";

/** A model of each maker whose teams are tried, and how a person configures it. */
export interface TestedMaker {
  name: string;
  /** What the maker wants back; `nothing` where requests stay as they were. */
  wants: "signed thinking" | "signatures" | "reasoning" | "sealed reasoning" | "nothing";
  /** The model client, for the fake server at `origin`. */
  client(origin: string, apiKey?: string): ComponentModel;
}

const openAI = (
  model: string,
  path = "/v1",
  config: { [key: string]: unknown } = {},
): TestedMaker["client"] => {
  const info = {
    vision: false,
    function_calling: true,
    json_output: true,
    structured_output: false,
    family: "unknown",
  };
  return (origin, api_key = "test-key") => ({
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    config: { model, api_key, base_url: `${origin}${path}`, ...config, model_info: info },
  });
};

const claude =
  (model: string, config: { [key: string]: unknown }): TestedMaker["client"] =>
  (origin, api_key = "test-key") => ({
    provider: "autogen_ext.models.anthropic.AnthropicChatCompletionClient",
    config: { model, api_key, base_url: origin, ...config },
  });

const budget = { thinking: { type: "enabled", budget_tokens: 2000 } };

export const MAKERS: readonly TestedMaker[] = [
  {
    name: "Claude Sonnet 4.5 with a budget",
    wants: "signed thinking",
    client: claude("claude-sonnet-4-5", budget),
  },
  {
    name: "Claude Opus 4.5 with a budget",
    wants: "signed thinking",
    client: claude("claude-opus-4-5", budget),
  },
  {
    name: "Claude Opus 5.5, adaptive",
    wants: "signed thinking",
    client: claude("claude-opus-5-5", {
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    }),
  },
  {
    name: "Claude Sonnet 5.5, adaptive, thoughts omitted",
    wants: "signed thinking",
    client: claude("claude-sonnet-5-5", { thinking: { type: "adaptive", display: "omitted" } }),
  },
  {
    name: "Gemini 3 Pro",
    wants: "signatures",
    client: openAI("gemini-3-pro-preview", "/v1beta/openai/"),
  },
  {
    name: "Gemini 3.8 Flash",
    wants: "signatures",
    client: openAI("gemini-3.8-flash", "/v1beta/openai/"),
  },
  { name: "DeepSeek V4", wants: "reasoning", client: openAI("deepseek-v4-pro") },
  { name: "DeepSeek Reasoner", wants: "reasoning", client: openAI("deepseek-reasoner") },
  { name: "Kimi K2.6", wants: "reasoning", client: openAI("kimi-k2.6") },
  { name: "Kimi K2 Thinking", wants: "reasoning", client: openAI("kimi-k2-thinking") },
  { name: "GLM 5.1", wants: "reasoning", client: openAI("glm-5.1") },
  { name: "MiniMax M2", wants: "reasoning", client: openAI("MiniMax-M2") },
  { name: "Qwen 3", wants: "reasoning", client: openAI("qwen3-max") },
  { name: "Grok 4", wants: "reasoning", client: openAI("grok-4") },
  {
    name: "Magistral",
    wants: "reasoning",
    client: openAI("magistral-medium-latest"),
  },
  { name: "gpt-oss", wants: "reasoning", client: openAI("gpt-oss-120b") },
  {
    name: "DeepSeek V4 by OpenRouter",
    wants: "signatures",
    client: openAI("deepseek/deepseek-v4-pro", "/api/v1"),
  },
  {
    name: "gpt-5.6 by the Responses API",
    wants: "sealed reasoning",
    client: openAI("gpt-5.6", "/v1", { api: "responses" }),
  },
  { name: "gpt-4o", wants: "nothing", client: openAI("gpt-4o") },
];
