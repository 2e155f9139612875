import type { ListedTeam } from "#contract/directory.ts";
import type { JsonObject } from "troupe";
import { jsonInit } from "../../../support/http-app.ts";
import type { TestWorker } from "../../../support/worker.ts";

/** A human who is asked for a text. */
export const HUMAN = {
  provider: "autogen_agentchat.agents.UserProxyAgent",
  component_type: "agent",
  config: { name: "human", description: "A human.", prompt: "Which city?" },
};

/** An agent whose model is the fake one at the Worker's OPENAI_BASE_URL. */
export function writer(config: JsonObject = {}): JsonObject {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name: "writer",
      description: "Writes.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client_stream: true,
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o-mini" },
      },
      ...config,
    },
  };
}

/** One after the other, until each has spoken once. */
export function inTurn(...participants: object[]): object {
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    component_type: "team",
    description: "Writes what it is told.",
    config: { participants, max_turns: participants.length },
  };
}

export async function newTeam(
  worker: Pick<TestWorker, "fetch">,
  body: { id: string; label?: string; component: unknown },
  headers: Record<string, string> = {},
): Promise<void> {
  const response = await worker.fetch("/v1/teams", jsonInit(body, "POST", headers));
  if (response.status !== 201) throw new Error(await response.text());
  await response.body?.cancel();
}

/** The team's runs, newest first. */
export async function runsOf(
  worker: TestWorker,
  team: string,
  headers: Record<string, string> = {},
): Promise<{ id: string; status: string }[]> {
  const response = await worker.fetch(`/v1/teams/${team}/runs`, { headers });
  return ((await response.json()) as { runs: { id: string; status: string }[] }).runs;
}

/** The conversations that A2A callers have with a team, latest activity first. */
export async function conversationsOf(
  worker: TestWorker,
  team: string,
  headers: Record<string, string> = {},
): Promise<ListedTeam[]> {
  const response = await worker.fetch(`/v1/teams?agent=${team}`, { headers });
  return ((await response.json()) as { teams: ListedTeam[] }).teams;
}
