import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ComponentRegistry, type JsonObject, openAIComponents } from "troupe";
import {
  CLAUDE_NAMES,
  knownClaudeModel,
  knownModel,
  OPENAI_NAMES,
} from "#components/models/catalogue/hosted-models.ts";
import { knownOllamaModel, OLLAMA_NAMES } from "#components/models/catalogue/ollama-models.ts";
import {
  knownWorkersAIModel,
  WORKERS_AI_NAMES,
} from "#components/models/catalogue/workers-ai-models.ts";
import { needsResponses } from "#components/models/openai/attempts.ts";

// The names that OpenAI's SDK knows: a new version of it tells which models the catalogue lacks.

const read = (file: string): string =>
  readFileSync(fileURLToPath(new URL(`../../../../node_modules/${file}`, import.meta.url)), "utf8");

function namesOf(source: string, type: string): string[] {
  const [, union = ""] = new RegExp(`export type ${type} =([^;]+);`).exec(source) ?? [];
  return Array.from(union.matchAll(/'([^']+)'/g), ([, name = ""]) => name);
}

const shared = read("openai/resources/shared.d.ts");
const CHAT = namesOf(shared, "ChatModel");
const RESPONSES_ALONE = namesOf(shared, "ResponsesModel").filter((name) => !CHAT.includes(name));

test("every model that OpenAI's SDK names is known, and those of the Responses API alone are marked so", () => {
  expect(CHAT.length).toBeGreaterThan(50);
  expect(RESPONSES_ALONE.length).toBeGreaterThan(10);
  expect([...CHAT, ...RESPONSES_ALONE].filter((name) => knownModel(name) === undefined)).toEqual(
    [],
  );
  expect(RESPONSES_ALONE.filter((name) => knownModel(name)?.responses !== "always")).toEqual([]);
});

test.each([
  ["gpt-4o", undefined, false],
  ["gpt-5.2", "high", false],
  ["gpt-5.4", undefined, false],
  ["gpt-5.4", "none", false],
  ["gpt-5.4-mini", "low", true],
  ["gpt-5.5", undefined, true],
  ["gpt-5.5-2026-04-23", "medium", true],
  ["gpt-5.6-terra", undefined, true],
  ["gpt-5.6", "none", false],
  ["gpt-5.10", undefined, true],
  ["gpt-6.1-sol", undefined, true],
  ["openai/gpt-6-astra", "max", true],
  ["gpt-6-astra", "none", true],
  ["gpt-5-chat-latest", undefined, false],
  ["gpt-5.1-codex", "none", true],
  ["o3-pro", undefined, true],
  ["gpt-oss-120b", "high", false],
  ["claude-opus-5", "high", false],
  ["unheard-of", "high", false],
])("%s with effort %s needs the Responses API for tools: %s", (model, effort, needs) => {
  expect(needsResponses(knownModel(model), effort)).toBe(needs);
});

test.each([
  ["gpt-5.6", 1_050_000],
  ["gpt-5.4-nano", 400_000],
  ["claude-opus-4-5", 200_000],
  ["claude-opus-4-6", 1_000_000],
  ["claude-sonnet-5", 1_000_000],
  ["claude-haiku-4-5", 200_000],
  ["gemini-3.1-pro-preview", 1_048_576],
  ["grok-4.5", 500_000],
  ["grok-4.20-0309-reasoning", 1_000_000],
  ["deepseek-v4-flash", 1_000_000],
  ["kimi-k2.6", 262_144],
  ["glm-5.2", 1_000_000],
  ["glm-4.7", 200_000],
  ["minimax-m2.5", 204_800],
  ["mistral-large-3", 256_000],
  ["mistral-medium-3.5", 256_000],
])("the window of %s is in the catalogue", (model, tokens) => {
  expect(knownModel(model)?.tokenLimit).toBe(tokens);
});

test.each([
  ["openai.OpenAIChatCompletionClient", OPENAI_NAMES, knownModel],
  ["anthropic.AnthropicChatCompletionClient", CLAUDE_NAMES, knownClaudeModel],
  ["ollama.OllamaChatCompletionClient", OLLAMA_NAMES, knownOllamaModel],
  ["WorkersAIChatCompletionClient", WORKERS_AI_NAMES, knownWorkersAIModel],
])("the schema of %s offers models that the catalogue has", (provider, names, known) => {
  const registry = new ComponentRegistry().register(...openAIComponents({ env: () => undefined }));
  const found = registry.definitions().find((one) => one.provider.endsWith(provider));
  expect(found?.config).toMatchObject({ properties: { model: { examples: names } } });
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => known(name) === undefined)).toEqual([]);
});

describe("a combination that the maker refuses gets a note with the remedy", () => {
  const OPENAI = "autogen_ext.models.openai.OpenAIChatCompletionClient";
  const AZURE = "autogen_ext.models.openai.AzureOpenAIChatCompletionClient";
  const CLAUDE = "autogen_ext.models.anthropic.AnthropicChatCompletionClient";
  const registry = new ComponentRegistry().register(...openAIComponents({ env: () => undefined }));
  const notesOf = (provider: string, config: JsonObject) =>
    registry.notes({ provider, config }).map(({ path, message }) => `${path}: ${message}`);

  const azure = { azure_endpoint: "https://x.openai.azure.com", api_version: "2024-10-21" };
  const budget = { type: "enabled", budget_tokens: 2000 };

  test.each<[string, JsonObject, RegExp]>([
    [
      OPENAI,
      { model: "gpt-5.6", api: "chat_completions" },
      /config\.api: .*reasoning_effort to "none"/,
    ],
    [
      OPENAI,
      { model: "gpt-5.4", reasoning_effort: "low", api: "chat_completions" },
      /config\.api: .*leave api out/,
    ],
    [OPENAI, { model: "gpt-5-pro", api: "chat_completions" }, /config\.api: .*"responses"/],
    [AZURE, { ...azure, model: "gpt-5.5", api: "chat_completions" }, /config\.api/],
    [OPENAI, { model: "gpt-5.6", seed: 7 }, /config\.seed: has no effect/],
    [OPENAI, { model: "gpt-5.6", stop: ["END"] }, /config\.stop: has no effect/],
    [OPENAI, { model: "gpt-5.6", temperature: 0.2 }, /config\.temperature: .*"none"/],
    [OPENAI, { model: "o3", temperature: 0.2 }, /config\.temperature: .*leave it out$/],
    [OPENAI, { model: "gpt-5.2", reasoning_effort: "low", top_p: 0.5 }, /config\.top_p/],
    [OPENAI, { model: "o3", max_tokens: 100 }, /config\.max_tokens: .*max_completion_tokens/],
    [
      OPENAI,
      { model: "gpt-4o", reasoning_effort: "low" },
      /config\.reasoning_effort: .*does not reason/,
    ],
    [CLAUDE, { model: "claude-opus-4-8", thinking: budget }, /config\.thinking: .*"adaptive"/],
    [
      CLAUDE,
      { model: "claude-sonnet-4-5", thinking: { type: "adaptive" } },
      /config\.thinking: .*budget_tokens/,
    ],
    [
      CLAUDE,
      { model: "claude-sonnet-4-6", thinking: budget, response_format: { type: "json_object" } },
      /config\.thinking: .*forces one/,
    ],
    [CLAUDE, { model: "claude-opus-5", temperature: 0.5 }, /config\.temperature: is refused/],
  ])("%s %j", (provider, config, note) => {
    expect(notesOf(provider, config)).toEqual([expect.stringMatching(note)]);
  });

  test.each<[string, JsonObject]>([
    [OPENAI, { model: "gpt-5.6", reasoning_effort: "low", max_tokens: 100, verbosity: "low" }],
    [OPENAI, { model: "gpt-5.4", temperature: 0.2 }],
    [OPENAI, { model: "gpt-5.6", reasoning_effort: "none", temperature: 0.2, seed: 1 }],
    [OPENAI, { model: "gpt-4o", temperature: 0.2, stop: "END", max_tokens: 10, api: "auto" }],
    [
      OPENAI,
      {
        model: "gpt-5.6",
        base_url: "http://localhost:1234/v1",
        api: "chat_completions",
        stop: "x",
      },
    ],
    [CLAUDE, { model: "claude-opus-4-8", thinking: { type: "adaptive" }, temperature: 1 }],
    [CLAUDE, { model: "claude-opus-4-5-20251101", thinking: budget, temperature: 1 }],
    [CLAUDE, { model: "claude-mythos-preview", thinking: budget }],
  ])("%s %j has none", (provider, config) => {
    expect(notesOf(provider, config)).toEqual([]);
  });
});
