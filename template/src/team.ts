import { AssistantAgent, type ChatCompletionClient, RoundRobinGroupChat } from "troupe";
import { openingHours } from "./opening-hours.ts";

/** The team of this project: one agent with one tool. Further agents take turns with it. */
export function townGuide(modelClient: ChatCompletionClient): RoundRobinGroupChat {
  const guide = new AssistantAgent({
    name: "guide",
    description: "Knows the town.",
    systemMessage: "You answer questions of visitors. Look up opening hours, never guess them.",
    modelClient,
    modelClientStream: true,
    tools: [openingHours],
    reflectOnToolUse: true,
  });
  return new RoundRobinGroupChat([guide], { maxTurns: 1 });
}
