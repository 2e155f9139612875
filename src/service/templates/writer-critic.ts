import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { MaxMessageTermination } from "../../core/conditions/max-message-termination.ts";
import { ReplayChatCompletionClient } from "../../core/models/clients/replay-chat-completion-client.ts";
import { RoundRobinGroupChat } from "../../core/teams/round-robin.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";

const DRAFTS = [
  "Here is a first draft.\n\nThe lighthouse keeper counted ships the way other people count sheep. On clear nights he reached forty before sleep found him; in fog he counted the silences between two blasts of the horn.",
  "Thank you, that helps. Second draft.\n\nThe lighthouse keeper counted ships the way other people count sheep. On clear nights he reached forty. In fog he counted silences instead, and one night there was one too many.",
  "Third draft, shorter and with the promise kept.\n\nThe keeper counted ships to fall asleep: forty on a clear night. In fog he counted the silences between two blasts of the horn. Tonight there was one too many, and it was coming closer.",
];

const REVIEWS = [
  "A strong opening image, and the fog is a good turn. Two things: the second sentence carries too much, and nothing happens yet. Give the reader a reason to go on.",
  "Much better. The last clause does the work. I would cut the comparison with sheep: we understand the counting without it, and the piece gets faster.",
  "That is it. Every sentence earns its place now, and the ending opens a door. I have no further notes.",
];

/** Two agents that take turns, without a model: for a first try, and to see text stream. */
export function writerCritic(): Template {
  return lazyTemplate(
    {
      name: "writer_critic",
      description:
        "A writer and a critic take turns on a short text for six messages. Works without a model: the agents repeat prepared texts.",
      task: "Write about a lighthouse.",
    },
    team,
  );
}

function team(): Team {
  const writer = new AssistantAgent({
    name: "writer",
    description: "Writes short texts and revises them.",
    systemMessage: "You write short texts. When you get notes, you revise your last draft.",
    modelClient: new ReplayChatCompletionClient(DRAFTS, { cycle: true, chunkDelayMs: 12 }),
    modelClientStream: true,
  });
  const critic = new AssistantAgent({
    name: "critic",
    description: "Reads drafts and says what to change.",
    systemMessage: "You read drafts and give two short, concrete notes.",
    modelClient: new ReplayChatCompletionClient(REVIEWS, { cycle: true, chunkDelayMs: 12 }),
    modelClientStream: true,
  });
  return new RoundRobinGroupChat([writer, critic], {
    terminationCondition: new MaxMessageTermination(7),
  });
}
