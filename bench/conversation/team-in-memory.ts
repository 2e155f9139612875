import { run } from "troupe";
import { conversationTeam } from "./conversation-team.ts";
import { serve } from "./serve.ts";

await serve(async (options) => {
  const team = conversationTeam(options);
  return (task) => run(team, { task });
});
