import { afterAll, beforeAll, expect } from "vitest";
import type { Locator } from "playwright-core";
import { HAS_BROWSER } from "../../test/support/browser.ts";
import { findings, testAppearances } from "./support/accessible.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../test/support/fake-openai/server.ts";
import { careful, speaker, turnTaking } from "./support/components.ts";
import { ConsoleStage } from "./support/stage.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await startFakeOpenAI({ rules: [{ name: "turn", hold: true }] });
  stage = await ConsoleStage.start({
    MODEL_PRICES: JSON.stringify({ replay: { input: 1_000_000, output: 1_000_000 } }),
    CURRENCY: "EUR",
  });
  const { client } = stage;
  const greeter = await client.teams.create({
    component: speaker(["Good morning."]),
    label: "Ada",
  });
  await greeter.run("Greet me.").result();
  const clerk = await client.teams.create({ component: careful(), label: "Refunds" });
  await clerk.start("Calculate the refund.");
  const broken = await client.teams.create({ component: speaker([]), label: "Broken" });
  await broken
    .run("Say it.")
    .result()
    .catch(() => undefined);
  const slow = await client.teams.create({
    component: turnTaking(models.url),
    label: "Review",
  });
  await slow.start("Discuss it.");
}, 120_000);
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

testAppearances(
  "the home page shows waiting, running and failed runs, and the cost of today",
  async (context) => {
    const { page, complaints } = await stage.open("/", context);
    const panel = (title: string): Locator =>
      page.locator(".home-panel").filter({ has: page.getByRole("heading", { name: title }) });
    await panel("Waiting for you")
      .getByText("clerk asks for approval to call calculator")
      .waitFor();
    await panel("Running now")
      .getByText(/^(user|first|second): /)
      .waitFor();
    await panel("Failed since yesterday")
      .getByText(/has no answer left/)
      .waitFor();
    await panel("Failed since yesterday").getByText("1 run of 1 team").waitFor();
    await panel("Today (UTC)").getByText(/^€\d/).waitFor();
    const row = (label: string): Locator => page.getByRole("row").filter({ hasText: label });
    await row("Ada").getByText("speaker: Good morning.").waitFor();
    await row("Review").getByText("Round robin · first · second").waitFor();
    await row("Broken").getByText("Last run failed").waitFor();
    expect(await findings(page)).toEqual([]);
    await panel("Failed since yesterday").getByRole("link", { name: "Failed since" }).click();
    await page.getByRole("heading", { name: "Failures", exact: true }).waitFor();
    await page.getByRole("link", { name: "All runs with model_exhausted" }).click();
    await row("Broken").waitFor();
    await expect.poll(() => row("Ada").count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);
