import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testAppearances(
  "the receivers of a team's messages are added, changed and deleted",
  async (context) => {
    const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
    const { page, complaints } = await stage.open(`/teams/${team.id}/triggers`, context);
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New receiver" }).click();
    await dialog.getByLabel("URL of an incoming webhook").fill("https://hooks.slack.com/a/hidden");
    await dialog.getByLabel("A run completes").uncheck();
    expect(await findings(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Add receiver" }).click();
    const list = page.getByRole("list", { name: "Receivers of messages" });
    await list.getByText("https://hooks.slack.com/**********").waitFor();
    expect((await team.notify()).notify).toMatchObject([
      { kind: "slack", on: ["run.failed", "request.created"] },
    ]);

    await page.getByRole("button", { name: "New receiver" }).click();
    await dialog.getByLabel("Kind").selectOption("telegram");
    await dialog.getByLabel("Token of the bot").fill("1:a");
    await dialog.getByLabel("Chat ID or @channel").fill("no chat");
    await dialog.getByRole("button", { name: "Add receiver" }).click();
    await dialog.getByText("must be the id of a chat").waitFor();
    await dialog.getByLabel("Chat ID or @channel").fill("@desk");
    await dialog.getByRole("button", { name: "Add receiver" }).click();
    await list.getByText("@desk").waitFor();
    expect(await findings(page)).toEqual([]);

    const slack = list.getByRole("group", { name: "https://hooks.slack.com/**********" });
    await slack.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("A run fails").uncheck();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await team.notify()).notify).toMatchObject([
      { kind: "slack", on: ["request.created"] },
      { kind: "telegram", chat: "@desk" },
    ]);
    await slack.getByRole("button", { name: "Delete" }).click();
    await slack.waitFor({ state: "detached" });
    await expect
      .poll(async () => (await team.notify()).notify, { timeout: 30_000 })
      .toMatchObject([{ kind: "telegram" }]);
    // The page tries a wrong receiver first, and browsers report each refusal.
    expect(complaints.filter((text) => !text.includes("422"))).toEqual([]);
  },
);
