import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import { UserProxyAgent } from "../../core/agents/user-proxy-agent.ts";
import type { Template } from "../../core/component/template.ts";
import { MaxMessageTermination } from "../../core/conditions/max-message-termination.ts";
import { TextMentionTermination } from "../../core/conditions/text-mention-termination.ts";
import { ReplayChatCompletionClient } from "../../core/models/clients/replay-chat-completion-client.ts";
import { RoundRobinGroupChat } from "../../core/teams/round-robin.ts";
import type { Team } from "../../core/teams/team.ts";
import { lazyTemplate } from "./lazy-template.ts";

const PLANS = [
  "My proposal for the day: nine to noon the museum, then lunch by the river, and in the afternoon the old town on foot. Shall I book it, or would you change something?",
  "Understood. Second proposal: a later start at ten, the garden instead of the museum, lunch by the river, and the afternoon free. Is that better?",
  "Then here is a third one: the boat tour at eleven, lunch on board, and the old town in the evening when it is cool. Say APPROVE and it is settled.",
];

/** An agent and a human who take turns. The run waits for the human for any time. */
export function humanInTheLoop(): Template {
  return lazyTemplate(
    {
      name: "human_in_the_loop",
      description:
        "A planner makes proposals and you answer, until you say APPROVE. The run waits for your answer at no cost, even for days. Works without a model: the planner repeats prepared texts.",
      task: "Plan a day in Lisbon.",
    },
    team,
  );
}

function team(): Team {
  const planner = new AssistantAgent({
    name: "planner",
    description: "Proposes plans and changes them as the human wishes.",
    systemMessage: "You propose a plan for one day. Change it as the user wishes.",
    modelClient: new ReplayChatCompletionClient(PLANS, { cycle: true, chunkDelayMs: 12 }),
    modelClientStream: true,
  });
  const human = new UserProxyAgent({
    name: "human",
    description: "The human whose day is planned.",
  });
  return new RoundRobinGroupChat([planner, human], {
    terminationCondition: new TextMentionTermination("APPROVE", { sources: ["human"] }).or(
      new MaxMessageTermination(40),
    ),
  });
}
