import { describe, expect, test } from "vitest";
import { knownModel } from "#components/models/catalogue/hosted-models.ts";
import { knownOllamaModel } from "#components/models/catalogue/ollama-models.ts";
import { OpenAIChatCompletionClient } from "troupe";
import { customInfo, system, user } from "../support.ts";

const info = (model: string) => knownModel(model)?.info;
const tokenLimit = (model: string) => knownModel(model)?.tokenLimit;

describe("the catalogue of models", () => {
  test("gives an alias the properties of its dated version", () => {
    expect(info("gpt-4o")).toEqual({
      vision: true,
      functionCalling: true,
      jsonOutput: true,
      family: "gpt-4o",
      structuredOutput: true,
      multipleSystemMessages: true,
      pdf: true,
    });
    expect(info("gpt-4o")).toEqual(info("gpt-4o-2024-08-06"));
    expect(info("gpt-4o-2024-05-13")?.structuredOutput).toBe(false);
    expect(info("o1-mini")?.functionCalling).toBe(false);
    expect(info("gemini-2.0-flash")?.multipleSystemMessages).toBe(false);
    expect(info("claude-4-opus")?.family).toBe("claude-4-opus");
    expect(knownModel("gpt-99")).toBeUndefined();
  });

  test.each([
    ["gpt-5.4-mini", "gpt-5"],
    ["gpt-5.2-2025-12-11", "gpt-5"],
    ["o4-mini", "o4"],
    ["ft:gpt-4o-mini-2024-07-18:acme::id", "gpt-4o"],
    ["gpt-35-turbo", "gpt-35"],
    ["gpt-oss-120b", "unknown"],
    ["claude-sonnet-4-5-20250929", "claude-4-sonnet"],
    ["claude-opus-4-8", "claude-4-opus"],
    ["claude-opus-5", "claude-5"],
    ["gemini-2.5-pro", "gemini-2.5-pro"],
    ["gemini-3-pro-preview", "gemini-3"],
    ["gemini-flash-latest", "gemini-3"],
    ["Llama-4-Maverick-17B-128E-Instruct-FP8", "llama-4-maverick"],
    ["meta-llama/llama-4-scout-17b-16e-instruct", "llama-4-scout"],
    ["x-ai/grok-4.3", "unknown"],
    ["deepseek-reasoner", "r1"],
    ["deepseek-v4-pro", "unknown"],
    ["deepseek/deepseek-chat:free", "unknown"],
    ["qwen/qwen3-32b", "unknown"],
    ["mistral-large-2512", "mistral"],
    ["moonshotai/kimi-k2.6", "unknown"],
  ])("contains %s, of the family %s", (model, family) => {
    expect(info(model)).toMatchObject({ family, functionCalling: true });
  });

  test("knows context windows", () => {
    expect(tokenLimit("gpt-4o")).toBe(128_000);
    expect(tokenLimit("gpt-4")).toBe(8192);
    expect(tokenLimit("gpt-5.2")).toBe(400_000);
    expect(tokenLimit("gpt-4o-search-preview-2025-03-11")).toBeUndefined();
  });

  test("knows Ollama's models in any size", () => {
    const llava = knownOllamaModel("llava:13b");
    expect(llava).toMatchObject({ info: { vision: true, jsonOutput: true }, tokenLimit: 4096 });
    expect(knownOllamaModel("llava:7b")?.tokenLimit).toBe(32_768);
    expect(knownOllamaModel("deepseek-r1:8b")?.info.family).toBe("r1");
    expect(knownOllamaModel("llama3")?.info.vision).toBe(false);
    expect(knownOllamaModel("qwen3-vl:8b")?.info).toMatchObject({
      vision: true,
      functionCalling: true,
    });
    expect(knownOllamaModel("my-model")).toBeUndefined();
  });
});

describe("the tokens left", () => {
  test("are the window less what messages and tools take", async () => {
    const client = new OpenAIChatCompletionClient({ model: "gpt-4o" });
    const messages = [system("Be kind."), user("Hello there")];
    const count = await client.countTokens(messages);
    expect(await client.remainingTokens(messages)).toBe(128_000 - count);
    const tools = [{ name: "add", description: "Adds two numbers." }];
    expect(await client.countTokens(messages, tools)).toBeGreaterThan(count);
  });

  test("are not guessed", async () => {
    const client = new OpenAIChatCompletionClient({ model: "mine", modelInfo: customInfo });
    await expect(client.remainingTokens([user("Hi")])).rejects.toThrow("'mine'");
  });
});
