import type { ConsoleStage } from "./stage.ts";
import { discussion } from "./components.ts";

/** A team with this many messages. The text of each is its number. */
export async function talked(stage: ConsoleStage, count: number): Promise<string> {
  const team = await stage.client.teams.create({ component: discussion("Yes.", 0) });
  await team.run("Begin.").result();
  const state = JSON.parse(JSON.stringify(await team.saveState()));
  const manager = state.agent_states.RoundRobinGroupChatManager;
  const [said] = manager.message_thread;
  manager.message_thread = Array.from({ length: count }, (_, index) => ({
    ...said,
    id: `00000000-0000-4000-8000-${String(index + 1).padStart(12, "0")}`,
    source: index % 2 === 0 ? "first" : "second",
    content: `Number ${index + 1}`,
  }));
  await team.loadState(state);
  return team.id;
}
