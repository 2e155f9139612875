import { expect, test } from "vitest";
import { dumpComponent } from "troupe";
import { pushConfig, pushesAt } from "../../api/protocols/a2a/support/pushes.ts";
import { answerText, clientOf, send, stateOf } from "../../api/protocols/a2a/support/client.ts";
import { HUMAN, inTurn } from "../../api/protocols/support/teams.ts";
import { saying } from "../../../console/test/support/components.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { server } from "./support/shared-server.ts";

const writer = dumpComponent(saying(["Four little words here."]));

test("a client of A2A runs a team, and a receiver verifies its push notifications", async () => {
  await using receiver = await WebhookReceiver.start();
  const { secret } = await server.json<{ secret: string }>("/v1/webhooks/default/secret");
  await server.json("/v1/teams", { id: "a2a", component: inTurn(writer) });
  const client = await clientOf(server, "a2a");
  const task = await send(client, "Write.", {
    taskPushNotificationConfig: pushConfig(receiver.url("/push")),
  });
  expect(stateOf(task)).toBe("TASK_STATE_COMPLETED");
  expect(answerText(task)).toBe("Four little words here.");
  const pushes = await pushesAt(receiver, secret, 1, "/push");
  expect(pushes.at(-1)).toMatchObject({ $case: "task", value: { id: task.id } });
});

test("a team calls another server's agent, and hands its question to its human", async () => {
  await server.json("/v1/teams", { id: "a2a-inner", component: inTurn(HUMAN, writer) });
  const remote = {
    provider: "troupe.agents.A2AAgent",
    component_type: "agent",
    config: {
      name: "remote",
      description: "An agent of another system.",
      url: `${server.origin}/a2a/teams/a2a-inner`,
    },
  };
  await server.json("/v1/teams", { id: "a2a-outer", component: inTurn(remote) });
  const runs = "/v1/teams/a2a-outer/runs";
  const { id, status, requests } = await server.json<{
    id: string;
    status: string;
    requests: { id: string }[];
  }>(`${runs}?wait=60`, { task: "Write." });
  expect({ status, requests }).toMatchObject({
    status: "waiting",
    requests: [{ source: "remote", prompt: "Which city?" }],
  });
  await server.json(`${runs}/${id}/requests/${requests[0]?.id}`, { content: "Lisbon" });
  await expect
    .poll(() => server.json(`${runs}/${id}`))
    .toMatchObject({
      status: "completed",
      result: { messages: [{}, { source: "remote", content: "Four little words here." }] },
    });
});
