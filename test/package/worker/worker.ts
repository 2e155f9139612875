// Deployed and compiled in a project that has the package installed: a team, the default service, and a route beside it.
import {
  AssistantAgent,
  defineTeam,
  dumpComponent,
  OpenAIChatCompletionClient,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
} from "troupe";
import { createTroupe, type Env } from "troupe/worker";

const guide = new AssistantAgent({
  name: "guide",
  modelClient: new ReplayChatCompletionClient(["Ten to six."]),
});
defineTeam({
  name: "guide",
  description: "Knows when shops are open.",
  component: dumpComponent(new RoundRobinGroupChat([guide], { maxTurns: 1 })),
});

const troupe = createTroupe({ basePath: "/agents" });
export class TeamObject extends troupe.TeamObject {}
export class TenantObject extends troupe.TenantObject {}

export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/tokens") return troupe.fetch(request, env);
    const client = new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "none" });
    const text = await request.text();
    return Response.json(
      await client.countTokens([{ type: "UserMessage", content: text, source: "user" }]),
    );
  },
} satisfies ExportedHandler<Env>;
