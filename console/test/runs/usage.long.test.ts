import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import type { FakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker } from "../support/components.ts";
import { office, OFFICE_PRICES, officeModels } from "../support/office.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await officeModels();
  stage = await ConsoleStage.start({ MODEL_PRICES: OFFICE_PRICES, CURRENCY: "EUR" });
}, 120_000);
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

testInBrowser("usage is plotted by day, team and model, with the numbers in tables", async () => {
  const { client } = stage;
  const { page, complaints } = await stage.open("/usage");
  await page.getByText("No usage in this period").waitFor();

  const office_ = await client.teams.create({ component: office(models.url, 2), label: "Office" });
  const talker = await client.teams.create({ component: speaker(["Hello."]), label: "Talker" });
  await office_.run("How much is six times seven?").result();
  await talker.run("Hello?").result();
  await expect.poll(async () => (await client.usage({ by: "day" })).total.runs).toBe(2);
  const { usage, total } = await client.usage({ by: "day,model" });
  const tokens = (row: { prompt_tokens: number; completion_tokens: number }): string =>
    new Intl.NumberFormat("en-US").format(row.prompt_tokens + row.completion_tokens);

  await page.reload();
  await page.locator(".uplot canvas").waitFor();
  const tile = (name: string) => page.locator(".tiles > div", { hasText: name }).locator("dd");
  await expect.poll(() => tile("Tokens").textContent()).toBe(tokens(total));
  await expect.poll(() => tile("Runs").textContent()).toBe("2");
  await expect.poll(() => tile("Cost").textContent()).toMatch(/^€0\.000/);
  await expect.poll(() => tile("Duration p95").textContent()).toMatch(/s$/);
  await expect.poll(() => tile("Failed").textContent()).toBe("0%");

  await page.getByRole("button", { name: "Model" }).click();
  const byDay = page.getByRole("region", { name: "Tokens by day" });
  await byDay.getByRole("columnheader", { name: "gpt-4o-mini" }).waitFor();
  const columns = await byDay.getByRole("columnheader").allTextContents();
  const cells = await byDay.getByRole("cell").allTextContents();
  for (const row of usage) {
    expect(cells[columns.indexOf(row.model ?? "") - 1]).toBe(tokens(row));
  }
  const byModel = page.getByRole("region", { name: "Usage by model" });
  const mini = usage.find(({ model }) => model === "gpt-4o-mini");
  expect(
    await byModel
      .getByRole("row", { name: /^gpt-4o-mini/ })
      .getByRole("cell")
      .allTextContents(),
  ).toEqual([
    "1",
    "2",
    `${mini?.prompt_tokens}`,
    "0",
    `${mini?.completion_tokens}`,
    "0",
    expect.stringMatching(/^€0\.0/),
  ]);

  await page.getByRole("button", { name: "Team" }).click();
  await page.getByRole("button", { name: "Cost" }).click();
  await page.getByRole("region", { name: "Cost by day" }).getByText("Office").waitFor();
  await page.reload();
  await page.getByRole("region", { name: "Cost by day" }).getByText("Office").waitFor();
  await page
    .getByRole("region", { name: "Usage by team" })
    .getByRole("link", { name: "Talker" })
    .click();
  await page.getByRole("row", { name: /Talker.*Completed/ }).waitFor();

  await page.goBack();
  await page.getByLabel("Period").selectOption("Custom period");
  await page.getByLabel("First day").fill("2026-01-01");
  await page.getByLabel("Last day").fill("2026-01-31");
  await page.getByText("No usage in this period").waitFor();
  expect(complaints).toEqual([]);
});
