import { join } from "node:path";
import {
  AssistantAgent,
  OpenAIChatCompletionClient,
  RoundRobinGroupChat,
  dumpComponent,
} from "troupe";

/** The model server of `upstream.ts`, to be started in a process of its own. */
export const UPSTREAM = join(import.meta.dirname, "upstream.ts");

/**
 * A team of one assistant that says what the model streams, once per run.
 *
 * @param model says how it streams: see `upstream.ts`
 */
export function streamingTeam(model: string, baseURL: string): object {
  const modelClient = new OpenAIChatCompletionClient({
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
  const assistant = new AssistantAgent({
    name: "assistant",
    modelClient,
    modelClientStream: true,
  });
  return dumpComponent(new RoundRobinGroupChat([assistant], { maxTurns: 1 }));
}
