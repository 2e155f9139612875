import { afterAll, beforeAll, expect } from "vitest";
import { testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
let count = 0;

beforeAll(async () => {
  stage = await ConsoleStage.start();
});

afterAll(() => stage[Symbol.asyncDispose]());

async function taskforce(): Promise<string> {
  const id = `taskforce-${++count}`;
  await stage.client.teams.create({ id, template: "taskforce" });
  return id;
}

testInBrowser(
  "the board stands beside the conversation, and people add, move, end and delete tasks",
  async () => {
    const id = await taskforce();
    const { page, complaints } = await stage.open(`/teams/${id}`);
    const board = page.getByRole("region", { name: "Tasks" });
    const rows = board.getByRole("listitem");
    await board.getByText("No tasks yet.").waitFor();
    for (const title of ["Buy food", "Cook"]) {
      await board.getByLabel("New task").fill(title);
      await board.getByLabel("New task").press("Enter");
      await board.getByText(title).waitFor();
    }
    await board.getByRole("button", { name: "Move up: Cook" }).click();
    await expect.poll(() => rows.locator("strong").allTextContents()).toEqual(["Cook", "Buy food"]);
    await board.getByLabel("More: Cook").click();
    await board.getByRole("button", { name: "Mark as done" }).click();
    await expect.poll(() => rows.first().getAttribute("data-state")).toBe("done");
    await board.getByLabel("More: Cook").click();
    await board.getByRole("button", { name: "Delete" }).click();
    await expect.poll(() => rows.locator("strong").allTextContents()).toEqual(["Buy food"]);
    expect(await stage.client.team(id).tasks.list()).toMatchObject({
      tasks: [{ title: "Buy food" }],
    });
    expect(complaints).toEqual([]);
  },
);

testInBrowser("the board follows what the agents do in a run", async () => {
  const { page } = await stage.open(`/teams/${await taskforce()}`);
  await new TeamOnPage(page).send("An evening for 40 guests.");
  const done = page.getByRole("region", { name: "Tasks" }).locator('[data-state="done"]');
  await expect.poll(() => done.count(), { timeout: 30_000 }).toBe(3);
  await done.getByText("by caterer").waitFor();
});

testAppearances("a team with a board is accessible", async (context) => {
  const id = await taskforce();
  await stage.client.team(id).tasks.add({ title: "Buy food", note: "For four." });
  const { page } = await stage.open(`/teams/${id}`, context);
  const folded = page.locator("summary", { hasText: "Tasks" });
  const board = page.getByRole("region", { name: "Tasks" });
  await folded.or(board).first().waitFor();
  if (await folded.isVisible()) await folded.click();
  await board.getByText("Buy food").waitFor();
  expect(await findings(page)).toEqual([]);
});
