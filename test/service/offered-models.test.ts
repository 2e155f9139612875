import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { TestWorker } from "../support/worker.ts";

test("the classes of model clients name their models with window, price and whether a key is set", async () => {
  await using worker = await TestWorker.start({
    OPENAI_API_KEY: "sk-test",
    MODEL_PRICES: JSON.stringify({ "gpt-4o": { input: 2.5, output: 10 } }),
  });
  const components = await new TroupeClient({ baseURL: await worker.origin }).components();
  const model = (name: string, of: string) =>
    components
      .find(({ provider }) => provider.endsWith(`.${of}`))
      ?.models?.find((one) => one.name === name);
  expect(model("gpt-4o", "OpenAIChatCompletionClient")).toEqual({
    name: "gpt-4o",
    context_window: 128_000,
    input_price: 2.5,
    output_price: 10,
    has_key: true,
  });
  const claude = components.find(({ provider }) =>
    provider.endsWith(".AnthropicChatCompletionClient"),
  )?.models;
  expect(claude?.length).toBeGreaterThan(3);
  expect(claude?.every(({ has_key, input_price }) => !has_key && input_price === null)).toBe(true);
  const local = components.find(({ provider }) => provider.endsWith(".OllamaChatCompletionClient"));
  expect(local?.models?.every(({ has_key }) => has_key)).toBe(true);
  const agent = components.find(({ provider }) => provider.endsWith(".AssistantAgent"));
  expect(agent).not.toHaveProperty("models");
  expect(JSON.stringify(components)).not.toContain("sk-test");
});
