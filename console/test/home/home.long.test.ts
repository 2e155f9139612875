import { afterAll, beforeAll, expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { careful, speaker, turnTaking } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

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

const panelOf = (page: Page, title: string): Locator =>
  page.locator(".home-panel").filter({ has: page.getByRole("heading", { name: title }) });

testAppearances(
  "the home page shows waiting, running and failed runs, and the cost of today",
  async (context) => {
    const { page, complaints } = await stage.open("/", context);
    const panel = (title: string): Locator => panelOf(page, title);
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
    await panel("Today (UTC)").getByRole("img", { name: "Runs of the last 14 days" }).waitFor();
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

testInBrowser(
  "the home page has the numbers of today that the page of usage has, without runs that have not ended",
  async () => {
    const { page, complaints } = await stage.open("/");
    const runs = page.getByRole("img", { name: "Runs of the last 14 days" });
    await expect
      .poll(() => runs.getAttribute("aria-label"))
      .toBe("Runs of the last 14 days: today, not finished: 2 runs, 1 failed");
    expect(await runs.locator("rect:not(.failed)").count()).toBe(1);
    await expect
      .poll(() => panelOf(page, "Running now").locator(".panel-count").textContent())
      .toBe("1");
    const home: Record<string, string | null> = {};
    for (const row of await panelOf(page, "Today (UTC)").locator("dl > div").all()) {
      const name = (await row.locator("dt").textContent()) ?? "";
      home[name] = await row.locator("b").textContent();
    }
    expect(home).toMatchObject({ Runs: "2", Failed: "50%" });

    const today = new Date().toISOString().slice(0, 10);
    await page.goto(`${stage.origin}/usage?from=${today}&to=${today}`);
    for (const [name, value] of Object.entries(home)) {
      const tile = page.locator(".tiles > div", { hasText: name }).locator("dd");
      await expect.poll(() => tile.textContent()).toBe(value);
    }
    expect(complaints).toEqual([]);
  },
);

testInBrowser("the home page of a server without runs has empty panels of one line", async () => {
  await using fresh = await ConsoleStage.start();
  await fresh.client.teams.create({ component: speaker(["Hello."]), label: "Ada" });
  const { page } = await fresh.open("/");
  for (const title of ["Waiting for you", "Running now", "Failed since yesterday"]) {
    const panel = panelOf(page, title);
    await panel.getByText("None", { exact: true }).waitFor();
    expect((await panel.boundingBox())?.height).toBeLessThan(60);
  }
  await panelOf(page, "Today (UTC)").waitFor();
  expect(await page.locator(".sparkline").count()).toBe(0);
});
