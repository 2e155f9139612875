import { AssistantAgent } from "../../src/core/agents/assistant-agent.ts";
import { MaxMessageTermination } from "../../src/core/conditions/max-message-termination.ts";
import { BufferedChatCompletionContext } from "../../src/core/context/buffered-chat-completion-context.ts";
import { ReplayChatCompletionClient } from "../../src/core/models/replay-chat-completion-client.ts";
import { RoundRobinGroupChat } from "../../src/core/teams/round-robin.ts";

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
