import { expect, test } from "vitest";
import { KillableWorker } from "../../../support/killable-worker.ts";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { inTurn, newTeam, writer } from "../support/teams.ts";
import { answerText, clientOf, send } from "./support/client.ts";
import { pushConfig, pushesAt } from "./support/pushes.ts";

test("each receiver gets the end of its task after kill -9 in mid-task and in mid-delivery", async () => {
  await using openai = await startFakeOpenAI({
    rules: [{ name: "write", hold: true, reply: { content: "Four little words here." } }],
  });
  await using receiver = await WebhookReceiver.start();
  await using worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: openai.url,
  });
  const response = await worker.fetch("/v1/webhooks/default/secret");
  const { secret } = (await response.json()) as { secret: string };
  await newTeam(worker, { id: "desk", component: inTurn(writer()) });
  const client = await clientOf(worker, "desk");
  const task = await send(client, "Write.", {
    returnImmediately: true,
    taskPushNotificationConfig: pushConfig(receiver.url("/first"), { token: "one" }),
  });
  await client.createTaskPushNotificationConfig(
    pushConfig(receiver.url("/second"), { taskId: task.id, token: "two" }),
  );
  await expect.poll(() => openai.requests.length).toBe(1);
  await worker.kill();
  expect(receiver.received).toEqual([]);

  // The receivers get the request, and their answer never arrives.
  receiver.respond = () => undefined;
  await worker.restart();
  await expect.poll(() => openai.requests.length).toBe(2);
  openai.release("write");
  await expect.poll(() => receiver.received.length).toBe(2);
  await worker.kill();

  receiver.respond = (answer) => void answer.end();
  await worker.restart();
  for (const [path, token] of [
    ["/first", "one"],
    ["/second", "two"],
  ] as const) {
    const requests = () => receiver.received.filter((request) => request.path === path);
    await expect.poll(() => requests().length).toBe(2);
    const [lost, again] = requests();
    expect(again!.headers["webhook-id"]).toBe(lost!.headers["webhook-id"]);
    expect(again!.headers["x-a2a-notification-token"]).toBe(token);
    expect(again!.body).toBe(lost!.body);
    const [push] = await pushesAt(receiver, secret, 2, path);
    if (push?.$case !== "task") throw new Error("not the task");
    expect(push.value.id).toBe(task.id);
    expect(answerText(push.value)).toBe("Four little words here.");
  }
});
