import {
  AssistantAgent,
  BufferedChatCompletionContext,
  RoundRobinGroupChat,
  UnboundedChatCompletionContext,
} from "troupe";
import { streamingModel } from "../support/streaming-model.ts";
import { type ConversationOptions, message, SYSTEM } from "./peer.ts";

/** A team of one assistant that answers once per run. */
export function conversationTeam({
  baseURL,
  model,
  stream,
  history,
  context,
}: ConversationOptions): RoundRobinGroupChat {
  const modelContext =
    context === null
      ? new UnboundedChatCompletionContext()
      : new BufferedChatCompletionContext(context);
  for (let index = 0; index < history; index++) {
    const { role, content } = message(index);
    modelContext.addMessage(
      role === "user"
        ? { type: "UserMessage", source: "user", content }
        : { type: "AssistantMessage", source: "assistant", thought: null, content },
    );
  }
  const assistant = new AssistantAgent({
    name: "assistant",
    systemMessage: SYSTEM,
    modelClientStream: stream,
    modelContext,
    modelClient: streamingModel(model, baseURL),
  });
  return new RoundRobinGroupChat([assistant], { maxTurns: 1 });
}
