import { join } from "node:path";
import { AssistantAgent, RoundRobinGroupChat, dumpComponent } from "troupe";
import { streamingModel } from "./streaming-model.ts";

/** The model server of `upstream.ts`, to be started in a process of its own. */
export const UPSTREAM = join(import.meta.dirname, "upstream.ts");

/**
 * A team of one assistant that says what the model streams, once per run.
 *
 * @param model says how it streams: see `upstream.ts`
 */
export function streamingTeam(model: string, baseURL: string): object {
  const assistant = new AssistantAgent({
    name: "assistant",
    modelClient: streamingModel(model, baseURL),
    modelClientStream: true,
  });
  return dumpComponent(new RoundRobinGroupChat([assistant], { maxTurns: 1 }));
}
