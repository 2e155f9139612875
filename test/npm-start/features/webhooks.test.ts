import { expect, test } from "vitest";
import type { WebhookDelivery } from "#contract/webhook.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { server } from "./support/shared-server.ts";

test("webhooks and their tests reach a receiver, which verifies them with the official library", async () => {
  await using receiver = await WebhookReceiver.start();
  await server.json("/v1/teams", { id: "webhooks", component: SAMPLE_COMPONENT });
  const { secret } = await server.json<{ secret: string }>(
    "/v1/webhooks/hook",
    { url: receiver.url("/hook"), events: ["run.completed"], team: "webhooks" },
    "PUT",
  );
  expect(await server.json("/v1/webhooks/hook/test", {})).toMatchObject({
    delivered: true,
    status: 200,
  });
  const run = await server.json<{ id: string }>("/v1/teams/webhooks/runs?wait=60", {
    task: "Write.",
    webhook: { url: receiver.url("/run"), events: ["run.completed"] },
  });
  const [, completed] = await receiver.events(secret, 2);
  expect(completed).toMatchObject({ type: "run.completed", data: { run_id: run.id } });
  const own = await server.json<{ secret: string }>("/v1/webhooks/default/secret");
  expect(await receiver.events(own.secret, 1, "/run")).toMatchObject([{ type: "run.completed" }]);
  await expect
    .poll(async () => {
      const path = "/v1/webhooks/hook/deliveries";
      return (await server.json<{ deliveries: WebhookDelivery[] }>(path)).deliveries;
    })
    .toMatchObject([{ status: "delivered" }]);
});
