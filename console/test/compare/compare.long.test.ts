import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testInBrowser("a fork is compared with its original, from the turn where they part", async () => {
  const component = speaker(["The first reply.", "The second reply."]);
  const original = await stage.client.teams.create({ component, label: "Story" });
  await original.run("First task.").result();
  await original.run("A long task about the sea.").result();
  const { page, complaints } = await stage.open(`/teams/${original.id}`);
  const task = page.locator("article", { hasText: "about the sea" });
  await task.hover();
  await task.getByRole("button", { name: "Edit in a fork" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("A short task about the sea.");
  await page.getByRole("button", { name: "Fork and run" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(original.id));
  await new TeamOnPage(page).status("Completed");
  const fork = new URL(page.url()).pathname.split("/").at(-1) ?? "";

  await page.getByRole("link", { name: "Compare with the original" }).first().click();
  const pairs = page
    .getByRole("list", { name: "Messages after the common part" })
    .getByRole("listitem");
  await expect.poll(() => pairs.count()).toBe(2);
  await expect.poll(() => pairs.first().locator("del").allTextContents()).toEqual(["long"]);
  await expect.poll(() => pairs.first().locator("ins").allTextContents()).toEqual(["short"]);
  await expect.poll(() => pairs.nth(1).getByText("the same").count()).toBe(2);
  await expect.poll(() => page.getByText("First task.").count()).toBe(0);
  await page.getByText("2 messages in common, up to turn 2").click();
  await page.getByText("First task.").waitFor();
  await page.getByLabel("Mark differences").uncheck();
  await page.locator("ins").waitFor({ state: "detached" });

  // Only one of them continues.
  await stage.client.team(fork).run("Another task.").result();
  await page.goto(`${stage.origin}/teams/${fork}`);
  await page.getByLabel("About this team").getByText("Compare with the original").waitFor();
  // Without room for that, the menu has it.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByLabel("More about this team").click();
  await page.locator(".menu-items").getByText("Compare with the original").click();
  await expect.poll(() => pairs.count()).toBe(4);
  await expect.poll(() => pairs.last().getByText("No matching message").count()).toBe(1);
  expect(complaints).toEqual([]);
});

testInBrowser("two teams without a common message are shown from their beginnings", async () => {
  const teams = [];
  for (const reply of ["One.", "Two."]) {
    const team = await stage.client.teams.create({ component: speaker([reply]) });
    await team.run("Say a number.").result();
    teams.push(team.id);
  }
  const { page } = await stage.open(`/compare?a=${teams[0]}&b=${teams[1]}`);
  await page.getByText("The two teams have no messages in common.").waitFor();
  await page.locator("del", { hasText: "One" }).waitFor();
  await page.locator("ins", { hasText: "Two" }).waitFor();
  await page.goto(`${stage.origin}/compare?a=${teams[0]}&b=nothing`);
  await page.getByText("Team not found").waitFor();
  await page.goto(`${stage.origin}/compare`);
  await page.getByText("Compare two teams").waitFor();
});

testInBrowser(
  "a fork with changes and its original are followed beside each other while both run",
  async () => {
    await using models = await startFakeOpenAI({
      rules: [
        {
          name: "fork",
          match: { system: "You are brief." },
          hold: true,
          hold_after: [5],
          reply: { content: "In a few words, and without a moral." },
        },
        {
          name: "more",
          match: { user: "Go on." },
          hold: true,
          hold_after: [5],
          reply: { content: "And then they all went home, and slept." },
        },
        { name: "first", reply: { content: "Once upon a time." } },
      ],
    });
    const { config, ...agent } = served(models.url);
    const original = await stage.client.teams.create({
      component: {
        ...(agent as { provider: string }),
        config: { ...(config as object), system_message: "You tell stories." },
      },
    });
    await original.run("Tell a story.").result();
    const { page, complaints } = await stage.open(`/teams/${original.id}?view=picture`);
    await page.locator(".node", { hasText: "speaker" }).click();
    await page.getByLabel("System message").fill("You are brief.");
    await page.getByRole("button", { name: "Try in a fork" }).click();
    await page.getByRole("button", { name: "Fork and run" }).click();
    await page.waitForURL(/\/compare\?a=/);

    const heads = page.locator(".compare-head");
    const pairs = page
      .getByRole("list", { name: "Messages after the common part" })
      .getByRole("listitem");
    const sides = (index: number) => pairs.nth(index).locator("article");
    await heads.nth(1).getByText("Running").waitFor();
    await sides(1).nth(1).getByText("In a").waitFor();
    await original.start("Go on.");
    await heads.nth(0).getByText("Running").waitFor();
    await page.getByText("And then").waitFor();
    models.release("more");
    models.release("fork");
    for (const head of [0, 1]) await heads.nth(head).getByText("Completed").waitFor();
    await page.getByText("And then they all went home, and slept.").waitFor();
    await expect.poll(() => sides(1).locator("ins").allTextContents()).not.toEqual([]);
    await expect.poll(() => page.locator("article[aria-busy=true]").count()).toBe(0);

    // The fork's own page agrees.
    await heads.nth(1).getByText("version 2").waitFor();
    await heads
      .nth(1)
      .getByRole("link", { name: `Fork of ${original.id}` })
      .click();
    await new TeamOnPage(page).status("Completed");
    await page.locator("article").getByText("In a few words, and without a moral.").waitFor();
    expect(complaints).toEqual([]);
  },
);
