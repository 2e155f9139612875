import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { jsonInit } from "../support/http-app.ts";
import { PATIENCE } from "../support/patience.ts";
import { SAMPLE_COMPONENT } from "../support/sample-component.ts";
import { TestWorker } from "../support/worker.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start(
    { SECRETS_KEY: btoa("k".repeat(32)), EMAIL_FROM: "troupe@example.com" },
    { email: true },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

interface Delivery {
  status: string;
  url: string;
  receiver: object;
  last_attempt: object;
}

test("the binding send_email takes the message about a run", async () => {
  await worker.fetch(
    "/v1/teams",
    jsonInit({ id: "mailed", component: SAMPLE_COMPONENT, label: "Büro „Süd“ <1>" }),
  );
  const notify = [{ kind: "email", to: "ada@example.com", on: ["run.completed"] }];
  const put = await worker.fetch("/v1/teams/mailed/notify", jsonInit({ notify }, "PUT"));
  expect(put.status).toBe(200);
  await worker.fetch("/v1/teams/mailed/runs", jsonInit({ task: "Grüße 😀" }));
  const delivery = await vi.waitUntil(async () => {
    const listed = await worker.fetch("/v1/webhooks/default/deliveries");
    const { deliveries } = (await listed.json()) as { deliveries: Delivery[] };
    return deliveries.find(({ last_attempt }) => last_attempt !== null);
  }, PATIENCE);
  expect(delivery).toMatchObject({
    status: "delivered",
    url: "mailto:ada@example.com",
    receiver: { kind: "email" },
    last_attempt: { status: 250, error: null },
  });
});
