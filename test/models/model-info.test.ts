import { describe, expect, test } from "vitest";
import { ollamaModelInfo, ollamaTokenLimit } from "#models/ollama/model-info.ts";
import { modelInfoOf, tokenLimitOf } from "#models/model-info.ts";
import { OpenAIChatCompletionClient } from "troupe";
import { customInfo, system, user } from "./support.ts";

describe("models by name", () => {
  test("an alias knows what its dated version knows", () => {
    expect(modelInfoOf("gpt-4o")).toEqual({
      vision: true,
      function_calling: true,
      json_output: true,
      family: "gpt-4o",
      structured_output: true,
      multiple_system_messages: true,
    });
    expect(modelInfoOf("gpt-4o")).toEqual(modelInfoOf("gpt-4o-2024-08-06"));
    expect(modelInfoOf("gpt-4o-2024-05-13").structured_output).toBe(false);
    expect(modelInfoOf("o1-mini").function_calling).toBe(false);
    expect(modelInfoOf("gemini-2.0-flash").multiple_system_messages).toBe(false);
    expect(modelInfoOf("claude-4-opus").family).toBe("claude-4-opus");
    expect(() => modelInfoOf("gpt-99")).toThrow("gpt-99");
  });

  test("context windows", () => {
    expect(tokenLimitOf("gpt-4o")).toBe(128_000);
    expect(tokenLimitOf("gpt-4")).toBe(8192);
    expect(tokenLimitOf("gpt-99")).toBeUndefined();
    expect(tokenLimitOf("gpt-4o-search-preview-2025-03-11")).toBeUndefined();
  });

  test("Ollama's models whatever their size", () => {
    expect(ollamaModelInfo("llava:13b")).toMatchObject({ vision: true, json_output: true });
    expect(ollamaModelInfo("deepseek-r1:8b").family).toBe("r1");
    expect(ollamaModelInfo("llama3").vision).toBe(false);
    expect(ollamaTokenLimit("llava:13b")).toBe(4096);
    expect(ollamaTokenLimit("llava:7b")).toBe(32_768);
  });
});

describe("tokens left", () => {
  test("are the window less what messages and tools take", async () => {
    const client = new OpenAIChatCompletionClient({ model: "gpt-4o" });
    const messages = [system("Be kind."), user("Hello there")];
    const count = await client.countTokens(messages);
    expect(await client.remainingTokens(messages)).toBe(128_000 - count);
    const tools = [{ name: "add", description: "Adds two numbers." }];
    expect(await client.countTokens(messages, tools)).toBeGreaterThan(count);
  });

  test("are not guessed", async () => {
    const client = new OpenAIChatCompletionClient({ model: "mine", model_info: customInfo });
    await expect(client.remainingTokens([user("Hi")])).rejects.toThrow("'mine'");
  });
});
