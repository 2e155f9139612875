import { type Browser } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { findings, testAppearances } from "../../console/test/support/accessible.ts";
import { HAS_BROWSER, openTab, startBrowser } from "../support/browser.ts";
import { jsonInit } from "../support/http-app.ts";
import { PATIENCE } from "../support/patience.ts";
import { ASKING_COMPONENT } from "../support/sample-component.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
import { TestWorker } from "../support/worker.ts";

let browser: Browser | undefined;
let worker: TestWorker;
let receiver: WebhookReceiver;
let count = 0;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  browser = await startBrowser();
  receiver = await WebhookReceiver.start();
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
});

afterAll(async () => {
  await browser?.close();
  await worker?.[Symbol.asyncDispose]();
  await receiver?.[Symbol.asyncDispose]();
});

/** A question and the address of its link. */
async function asked(): Promise<{ run: string; link: string }> {
  const id = `team-${++count}`;
  receiver.reset();
  await worker.fetch("/v1/teams", jsonInit({ id, component: ASKING_COMPONENT }));
  const notify = [{ kind: "webhook", url: receiver.url(), on: ["request.created"] }];
  await worker.fetch(`/v1/teams/${id}/notify`, jsonInit({ notify }, "PUT"));
  const started = await worker.fetch(`/v1/teams/${id}/runs`, jsonInit({ task: "x".repeat(500) }));
  const run = (await started.json()) as { id: string };
  const [message] = await vi.waitUntil(
    () => receiver.received.length > 0 && receiver.received,
    PATIENCE,
  );
  const { data } = JSON.parse(message?.body ?? "") as { data: { answer_url: string } };
  return { run: `/v1/teams/${id}/runs/${run.id}`, link: data.answer_url };
}

testAppearances("the page of a link is accessible, answers, and says so", async (context) => {
  if (browser === undefined) throw new Error("there is no browser");
  const { run, link } = await asked();
  const page = await openTab(browser, context);
  await page.goto(link);
  await page.getByRole("heading", { name: "Answer a question" }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByLabel("Answer").fill("From the page.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByRole("heading", { name: "Answered" }).waitFor();
  expect(await findings(page)).toEqual([]);
  await expect.poll(async () => (await worker.fetch(run)).text()).toContain("From the page.");
  await page.goto(link);
  await page.getByRole("heading", { name: "Already answered" }).waitFor();
  expect(await findings(page)).toEqual([]);
});
