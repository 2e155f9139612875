import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { agent } from "../support/sample-component.ts";

const component = {
  provider: "RoundRobinGroupChat",
  config: {
    participants: [agent("writer"), { provider: "UserProxyAgent", config: { name: "editor" } }],
    termination_condition: { provider: "MaxMessageTermination", config: { max_messages: 3 } },
  },
} as never;

test("the next message of a round robin with max_messages is answered after Stop and kill -9", async () => {
  await using worker = await KillableWorker.start();
  const team = await new TroupeClient({ baseURL: worker.origin }).teams.create({ component });
  const asked = async (run: string): Promise<string> => {
    await expect.poll(async () => (await team.getRun(run)).status).toBe("waiting");
    return (await team.requests(run))[0]?.id ?? "";
  };
  const { id: stopped } = await team.start("Write.");
  await asked(stopped);
  await team.stop(stopped, "now");
  await worker.kill();
  await worker.restart();
  expect(await team.saveState()).toMatchObject({
    agent_states: { RoundRobinGroupChatManager: { current_turn: 0 } },
  });

  const { id: next } = await team.start("Write once more.");
  await team.answer(next, await asked(next), { content: "Shorter." });
  await expect.poll(async () => (await team.getRun(next)).status).toBe("completed");
  const { result } = await team.getRun(next);
  const said = result?.messages.filter(({ type }) => type === "TextMessage");
  expect(said?.map(({ source }) => source)).toEqual(["user", "editor", "writer"]);
});
