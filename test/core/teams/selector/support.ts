import { SelectorGroupChat, type SelectorGroupChatOptions } from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { TestAgent } from "../../support/agents.ts";

/** A prompt that shows its three fields. */
export const PROMPT = "{roles}|{participants}|{history}";

/** A team of ann, bob and cat, whose selector answers as the script says. */
export function trio(
  script: readonly ScriptedReply[],
  options: Partial<SelectorGroupChatOptions> = {},
) {
  const model = new ScriptedChatCompletionClient(script);
  const agents = ["ann", "bob", "cat"].map((name) => new TestAgent(name));
  const team = new SelectorGroupChat(agents, {
    modelClient: model,
    selectorPrompt: PROMPT,
    maxTurns: 1,
    ...options,
  });
  /** What the model was asked, last message of each request. */
  const asked = (): unknown[] => model.requests.map(({ messages }) => messages.at(-1)?.content);
  return { team, model, agents, asked };
}
