import { AssistantAgent, ReplayChatCompletionClient, RoundRobinGroupChat, run } from "troupe";

/** A team without the service: it runs in the memory of the Worker. */
export default {
  async fetch() {
    const modelClient = new ReplayChatCompletionClient(["Good morning."]);
    const agent = new AssistantAgent({ name: "greeter", modelClient });
    const team = new RoundRobinGroupChat([agent], { maxTurns: 1 });
    return Response.json(await run(team, { task: "Greet me." }));
  },
} satisfies ExportedHandler;
