import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { TeamClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker } from "../../../test/client/support/speaker.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { tabTo } from "../support/keyboard.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await startFakeOpenAI();
  stage = await ConsoleStage.start();
}, 120_000);
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});
beforeEach(async () => {
  if (!HAS_BROWSER) return;
  const { teams } = await stage.client.teams.list();
  await Promise.all(teams.map(({ id }) => stage.client.team(id).delete()));
});

/** Lets the model server refuse its requests with these words. */
function refuse(message: string): void {
  models.rules.set([{ name: "refused", fault: { kind: "status", status: 400, message } }]);
}

/** A team whose only run has failed. */
async function failedTeam(label: string): Promise<TeamClient> {
  const team = await stage.client.teams.create({ component: speaker(models.url), label });
  await failedRun(team);
  return team;
}

async function failedRun(team: TeamClient): Promise<void> {
  const { id } = await team.start("Greet me.");
  await expect.poll(async () => (await team.getRun(id)).status).toBe("failed");
}

function statusesOf(team: TeamClient): Promise<string[]> {
  return team.runs().then(({ runs }) => runs.map(({ status }) => status));
}

function groups(page: Page): Locator {
  return page.getByRole("list", { name: "Failures" }).locator(":scope > li");
}

testInBrowser("failures with the same reason are one group, whose runs are retried", async () => {
  refuse("The model is not known.");
  const ada = await failedTeam("Ada");
  const bert = await failedTeam("Bert");
  await failedRun(bert);
  refuse("The context is too strange.");
  await failedTeam("Carl");
  const { page, complaints } = await stage.open("/runs");
  await page.getByRole("link", { name: "Failures" }).click();
  await expect.poll(() => groups(page).count()).toBe(2);
  const group = groups(page).filter({ hasText: "The model is not known." });
  await group.getByRole("heading", { name: /^The model is not known/ }).waitFor();
  await group.getByText("3 runs of 2 teams").waitFor();
  await group.getByText("agent speaker").waitFor();
  await group.getByText("version 1 of the team").waitFor();
  await group.getByText("1 other run can't be retried").waitFor();
  await group.getByRole("link", { name: "Ada" }).waitFor();

  models.rules.set([{ name: "greeting", reply: { content: "Good morning." } }]);
  await tabTo(page, /^Retry all 2$/);
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Retry 2 runs?" });
  await dialog.getByText("1 other run can't be retried").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  expect(await statusesOf(ada)).toEqual(["failed"]);
  await group.getByRole("button", { name: "Retry all 2" }).click();
  await dialog.getByRole("button", { name: "Retry the runs" }).click();
  await group.getByText("2 runs were retried.").waitFor();
  await expect.poll(() => statusesOf(ada)).toEqual(["completed", "failed"]);
  await expect.poll(() => statusesOf(bert)).toEqual(["completed", "failed", "failed"]);
  await group.getByText("3 runs can't be retried").waitFor();
  expect(await group.getByRole("button").count()).toBe(0);
  expect(complaints).toEqual([]);

  await group.getByRole("link", { name: "All runs with model_bad_request" }).click();
  await expect.poll(() => page.locator("tbody tr").count()).toBe(4);
});

testInBrowser("a group says why some of its runs could not be retried", async () => {
  refuse("The model is not known.");
  const [ada, bert, carl] = [
    await failedTeam("Ada"),
    await failedTeam("Bert"),
    await failedTeam("Carl"),
  ];
  const { page, complaints } = await stage.open("/runs/failures");
  await groups(page).getByRole("button", { name: "Retry all 3" }).click();
  models.rules.set([{ name: "greeting", reply: { content: "Good morning." } }]);
  await ada.run("Greet me again.").result();
  await bert.reset();
  await page.getByRole("dialog").getByRole("button", { name: "Retry the runs" }).click();
  const outcome = groups(page).getByRole("status").locator("p");
  await expect
    .poll(async () => (await outcome.allTextContents()).toSorted())
    .toEqual([
      "1 run couldn't be retried: The run no longer counts as failed, or its team was reset.",
      "1 run couldn't be retried: The team has a later run.",
      "1 run was retried.",
    ]);
  await expect.poll(() => statusesOf(carl)).toEqual(["completed", "failed"]);
  expect(complaints.filter((complaint) => !complaint.includes("409"))).toEqual([]);
});

testInBrowser("a key that may only read runs sees failures without a button", async () => {
  refuse("The model is not known.");
  await failedTeam("Ada");
  const { page } = await stage.open("/runs/failures");
  await groups(page).getByRole("button", { name: "Retry 1 run" }).waitFor();
  await page.route("**/v1/whoami", async (route) => {
    const response = await route.fetch();
    const scopes = ["teams:read", "runs:read"];
    await route.fulfill({ response, json: { ...(await response.json()), scopes } });
  });
  await page.reload();
  await groups(page).getByText("1 run of 1 team").waitFor();
  expect(await groups(page).getByRole("button").count()).toBe(0);
});

testAppearances(
  "axe finds nothing on failures, and the address keeps their period",
  async (context) => {
    const { page, complaints } = await stage.open("/runs/failures", context);
    await page.getByText("No failed runs.").waitFor();
    expect(await findings(page)).toEqual([]);
    refuse(`The model ${"very-".repeat(60)}long is not known.`);
    await failedTeam("Ada".repeat(30));
    await groups(page).getByRole("link", { name: "Ada" }).waitFor();
    expect(await findings(page)).toEqual([]);
    await page.getByLabel("Period").selectOption("Any time");
    await page.waitForURL((url) => url.search === "?days=all");
    await page.reload();
    await groups(page).waitFor();
    expect(await page.getByLabel("Period").inputValue()).toBe("all");
    await groups(page).getByRole("button").click();
    await page.getByRole("dialog").waitFor();
    expect(await findings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  },
);
