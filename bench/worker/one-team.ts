import {
  AssistantAgent,
  defineTeam,
  dumpComponent,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
} from "troupe";

// The service with one team.
const agent = new AssistantAgent({
  name: "greeter",
  modelClient: new ReplayChatCompletionClient(["Good morning."]),
});
defineTeam({
  name: "greeter",
  description: "Greets.",
  component: dumpComponent(new RoundRobinGroupChat([agent], { maxTurns: 1 })),
});

export { default, TeamObject, TenantObject } from "troupe/worker";
