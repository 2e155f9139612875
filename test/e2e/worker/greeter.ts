// The templates of services with callers of their own.
import { AssistantAgent, Catalog, dumpComponent, ReplayChatCompletionClient } from "troupe";

export const catalog = new Catalog();
catalog.defineTeam({
  name: "greeter",
  description: "Greets.",
  component: dumpComponent(
    new AssistantAgent({
      name: "greeter",
      modelClient: new ReplayChatCompletionClient(["Good morning.", "Good evening."]),
    }),
  ),
});
