import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { WebhookReceiver } from "../../support/webhook-receiver.ts";
import { TestWorker } from "../../support/worker.ts";

test("a receiver of webhooks that never answers is abandoned after ten seconds", async () => {
  await using worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  await using receiver = await WebhookReceiver.start();
  receiver.respond = () => undefined;
  const { webhooks } = new TroupeClient({ baseURL: await worker.origin });
  await webhooks.put("hook", { url: receiver.url(), events: ["run.completed"] });
  const result = await webhooks.test("hook");
  expect(result).toMatchObject({ delivered: false, status: null });
  expect(result.error).toContain("within 10 seconds");
  expect(result.duration_ms).toBeGreaterThan(9_000);
});
