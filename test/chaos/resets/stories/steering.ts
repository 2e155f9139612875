import type { JsonObject } from "troupe";
import { assistant, person, roundRobin } from "../../scenarios/components.ts";
import { completed, same, type Story } from "./story.ts";

const MESSAGE = "A message into the run.";

interface SavedAgents {
  agent_states: {
    closer: { agent_state: { llm_context: { messages: { content: unknown }[] } } };
    RoundRobinGroupChatManager: { message_thread: { id: string }[] };
  };
}

/** People send messages into a run, while it works and while it waits: they are read once each, in their order. */
export const STEERING: Story = {
  name: "a message into a run",
  async happens(session) {
    const model = session.options.fake.url;
    const agents = [
      assistant({ model }, "speaker"),
      person("person", {}),
      assistant({ model }, "closer"),
    ];
    await session.post("/teams", { id: "team", component: roundRobin(agents, 3) });
    const { id } = await session.post<{ id: string }>("/teams/team/runs", { task: "Speak." });
    const path = `/teams/team/runs/${id}`;
    const send = async (content: string): Promise<string> =>
      (await session.post<{ id: string }>(`${path}/messages`, { content })).id;
    const sent = [await send(`${MESSAGE} One.`)];
    let open: { id: string } | undefined;
    await session.until("the run asks", async () => {
      [open] = (await session.get<{ requests: { id: string }[] }>(path)).requests;
      return open !== undefined;
    });
    sent.push(await send(`${MESSAGE} Two.`));
    await session.post(`${path}/requests/${open?.id}`, { content: "Go on." });
    await completed(session, "team", id);
    const { messages } = await session.get<{ messages: { id: string }[] }>(
      "/teams/team/messages?limit=100",
    );
    const ofSent = (all: readonly { id: string }[]): string[] =>
      all.map((message) => message.id).filter((one) => sent.includes(one));
    same("the log", ofSent(messages), sent);
    const state = (await session.get<JsonObject>("/teams/team/state")) as unknown as SavedAgents;
    const { closer, RoundRobinGroupChatManager: manager } = state.agent_states;
    same("the thread", ofSent(manager.message_thread), sent);
    const read = closer.agent_state.llm_context.messages
      .map(({ content }) => content)
      .filter((content) => String(content).startsWith(MESSAGE));
    same("what the agent has read", read, [`${MESSAGE} One.`, `${MESSAGE} Two.`]);
  },
};
