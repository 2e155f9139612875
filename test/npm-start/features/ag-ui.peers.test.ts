import { expect, test } from "vitest";
import { agentOf, say } from "../../api/protocols/ag-ui/support/agents.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { server } from "./support/shared-server.ts";

test("a client of AG-UI runs a team", async () => {
  await server.json("/v1/teams", { id: "ag-ui", component: SAMPLE_COMPONENT });
  const agent = await agentOf(server, "ag-ui");
  const { types } = await say(agent, "Hello.");
  expect([types[0], types.at(-1)]).toEqual(["RUN_STARTED", "RUN_FINISHED"]);
  const said = agent.messages.filter(({ role }) => role === "assistant");
  expect(said.map(({ content }) => content)).toEqual(["one", "one", "two"]);
});
