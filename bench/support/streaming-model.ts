import { OpenAIChatCompletionClient } from "troupe";

/** A client of the model server of `upstream.ts`. @param model says how it streams */
export function streamingModel(model: string, baseURL: string): OpenAIChatCompletionClient {
  return new OpenAIChatCompletionClient({
    model,
    baseURL,
    apiKey: "bench",
    modelInfo: {
      vision: false,
      functionCalling: false,
      jsonOutput: false,
      structuredOutput: false,
      family: "unknown",
    },
  });
}
