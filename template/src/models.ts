import {
  type ChatCompletionClient,
  OpenAIChatCompletionClient,
  ReplayChatCompletionClient,
} from "troupe";

/** Prepared answers instead of a model, so that the first run needs no key. */
export function demoModel(): ChatCompletionClient {
  const usage = { prompt_tokens: 0, completion_tokens: 0 };
  const call = { id: "call_1", name: "opening_hours", arguments: '{"place":"museum"}' };
  return new ReplayChatCompletionClient(
    [
      { finish_reason: "function_calls", content: [call], usage, cached: false },
      "The museum is open from 10:00 to 18:00, except on Mondays. These words are prepared: src/worker.ts chooses a real model instead.",
    ],
    {
      cycle: true,
      chunkDelayMs: 20,
      modelInfo: {
        vision: false,
        functionCalling: true,
        jsonOutput: false,
        structuredOutput: false,
        family: "unknown",
      },
    },
  );
}

/** A model of OpenAI. Its key is a secret of the Worker: .dev.vars here, `wrangler secret put` when deployed. */
export function openAIModel(): ChatCompletionClient {
  return new OpenAIChatCompletionClient({ model: "gpt-4o-mini", apiKey: "env:OPENAI_API_KEY" });
}
