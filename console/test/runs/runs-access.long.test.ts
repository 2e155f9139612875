import { afterAll, beforeAll, expect, vi } from "vitest";
import type { TeamClient } from "troupe/client";
import { HAS_BROWSER } from "../../../test/support/browser.ts";
import type { FakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { PATIENCE } from "../../../test/support/patience.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { office, OFFICE_PRICES, officeModels } from "../support/office.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
let team: TeamClient;
let run: string;
let fork: TeamClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await officeModels();
  stage = await ConsoleStage.start({ MODEL_PRICES: OFFICE_PRICES });
  const { client } = stage;
  team = await client.teams.create({ component: office(models.url), label: "Office" });
  run = (await team.start("How much is six times seven?")).id;
  const statusOf = async (): Promise<string> => (await team.getRun(run)).status;
  await vi.waitFor(async () => expect(await statusOf()).toBe("waiting"), PATIENCE);
  const original = await client.teams.create({ component: speaker(["One.", "Two."]) });
  await original.run("Say a number.").result();
  fork = await original.fork({ turn: 1 });
  await original.run("Say another number.").result();
  await fork.run("Say a number in words.").result();
  const runs = async (): Promise<number> => (await client.usage({ by: "day" })).total.runs;
  await vi.waitFor(async () => expect(await runs()).toBe(3), PATIENCE);
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

testAppearances("axe finds nothing on runs, timeline, usage and comparison", async (context) => {
  const { page } = await stage.open("/runs", context);
  await page.getByRole("row", { name: /Office/ }).waitFor();
  expect(await findings(page)).toEqual([]);

  await page.goto(`${stage.origin}/teams/${team.id}/runs/${run}`);
  await page.locator(".timeline-row[data-kind=attempt]").first().waitFor();
  expect(await findings(page)).toEqual([]);
  await page.locator(".timeline-row[data-kind=execute_tool]").click();
  await page.locator(".recorded").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.locator(".timeline-row[data-kind=chat]").first().click();
  await page.getByText(/^Request/).click();
  expect(await findings(page)).toEqual([]);

  await page.goto(`${stage.origin}/usage?by=model`);
  await page.locator(".uplot canvas").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByLabel("Period").selectOption("Custom period");
  await page.getByLabel("First day").waitFor();
  expect(await findings(page)).toEqual([]);

  const { forked_from: origin } = await fork.get();
  await page.goto(`${stage.origin}/compare?a=${origin?.team_id}&b=${fork.id}`);
  await page.locator("ins").first().waitFor();
  await page.locator(".common summary").click();
  expect(await findings(page)).toEqual([]);
  await page.goto(`${stage.origin}/teams/${fork.id}`);
  await page.locator("article").first().waitFor();
  await page.getByLabel("More about this team").click();
  expect(await findings(page)).toEqual([]);
});
