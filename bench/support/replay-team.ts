import {
  AssistantAgent,
  BufferedChatCompletionContext,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
} from "troupe";

/**
 * Two assistants that take turns without a model, until one run has `messages` messages.
 *
 * @param buffer how many messages each agent's model gets to see; null: all
 */
export function replayTeam(messages: number, buffer: number | null): RoundRobinGroupChat {
  const agent = (name: string): AssistantAgent =>
    new AssistantAgent({
      name,
      modelClient: new ReplayChatCompletionClient(
        [`This is what ${name} says every time, in a sentence or two. It is of ordinary length.`],
        { cycle: true },
      ),
      ...(buffer !== null && { modelContext: new BufferedChatCompletionContext(buffer) }),
    });
  return new RoundRobinGroupChat([agent("ada"), agent("ben")], {
    terminationCondition: new MaxMessageTermination(messages),
  });
}
