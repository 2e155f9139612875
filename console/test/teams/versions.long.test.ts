import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

function poet(system_message: string) {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "poet",
      system_message,
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: ["A rhyme."] },
      },
    },
  };
}

testInBrowser("versions are compared, labelled, tried and restored", async () => {
  const team = await stage.client.teams.create({ id: "poet", component: poet("Write a poem.") });
  await team.replaceComponent(poet("Write a rhyme."));
  const { page, complaints } = await stage.open("/teams/poet");
  await page.getByRole("link", { name: "Versions" }).click();
  await page.getByRole("button", { name: "Differences of version 2" }).click();
  const changes = page.getByLabel("Changes");
  await changes.getByText("config.system_message", { exact: true }).waitFor();
  await changes.locator("del").filter({ hasText: "Write a poem." }).waitFor();
  await changes.locator("ins").filter({ hasText: "Write a rhyme." }).waitFor();
  expect(await changes.locator("dt").count()).toBe(1);

  await page.getByRole("button", { name: "Label version 1" }).click();
  await page.getByRole("textbox", { name: /^Label/ }).fill("stable");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("stable", { exact: true }).waitFor();
  expect(await team.versions.get(1)).toMatchObject({ label: "stable", note: null });

  await page.getByRole("button", { name: "Restore version 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await page.getByText("Version 1 is restored, as version 3.").waitFor();
  await page.getByRole("heading", { name: "Version 3", exact: true }).waitFor();
  expect((await team.get()).component.config["system_message"]).toBe("Write a poem.");

  await page.getByRole("link", { name: "Try version 2 in the playground" }).click();
  await page.getByText("Write a rhyme.").first().waitFor();
  expect(complaints).toEqual([]);
});

testAppearances("axe finds nothing on the versions", async (context) => {
  const team = await stage.client.teams.create({ component: poet("Write a poem.") });
  await team.replaceComponent(poet("Write a rhyme."));
  await team.versions.label(1, { label: "stable", note: "As it was released." });
  const { page } = await stage.open(`/teams/${team.id}/versions`, context);
  await page.getByRole("button", { name: "Differences of version 2" }).click();
  await page.getByLabel("Changes").waitFor();
  expect(await findings(page)).toEqual([]);
});
