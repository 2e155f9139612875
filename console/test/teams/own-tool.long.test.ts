import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { speaker } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testInBrowser("a team gets a tool of its own, which is changed, deleted and restored", async () => {
  const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
  const { page, complaints } = await stage.open(`/teams/${team.id}/api`);
  const dialog = page.getByRole("dialog");
  const section = page.getByRole("region", { name: "Tool for clients of MCP" });
  await section.getByRole("button", { name: "New tool" }).click();
  await dialog.getByLabel(/^Name/).fill("weather");
  await dialog.getByLabel(/^Description/).fill("Says what the weather is.");
  await dialog.getByLabel(/^Task/).fill("The weather in {{ city }}, please.");
  const schema = dialog.getByLabel("Schema of the arguments (JSON)");
  const create = dialog.getByRole("button", { name: "Create tool" });
  // A text that is not JSON is not sent.
  await schema.fill('{ "type": "object"');
  await dialog.getByText("This is not JSON").waitFor();
  await create.click();
  await expect(team.tool()).rejects.toMatchObject({ status: 404 });
  await schema.fill('{ "type": "array" }');
  await create.click();
  await dialog.getByText('must be a JSON Schema with "type": "object"').waitFor();
  const arguments_ = { type: "object", properties: { city: { type: "string" } } };
  await schema.fill(JSON.stringify(arguments_));
  await create.click();
  await section.getByText("Says what the weather is.").waitFor();
  expect(await team.tool()).toMatchObject({
    name: "weather",
    input_schema: arguments_,
    output_schema: null,
    task: "The weather in {{ city }}, please.",
  });

  await section.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("Schema of the answer, optional (JSON)").fill('{ "type": "object" }');
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  expect((await team.tool()).output_schema).toEqual({ type: "object" });

  const letTimePass = await holdTimers(page);
  await section.getByRole("button", { name: "Delete" }).click();
  await section.getByRole("button", { name: "New tool" }).waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await section.getByText("Says what the weather is.").waitFor();
  await section.getByRole("button", { name: "Delete" }).click();
  await letTimePass();
  await expect.poll(() => team.tool().catch(({ status }) => status as number)).toBe(404);
  // Browsers report each refusal.
  expect(complaints.filter((text) => !/404|422/.test(text))).toEqual([]);
});

testAppearances("the form of a team's own tool is accessible", async (context) => {
  const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
  await team.putTool({
    name: `tool_${team.id.replaceAll("-", "_").slice(0, 40)}`,
    description: "Says what the weather is. ".repeat(10),
    input_schema: { type: "object" },
    task: "The weather, please.",
  });
  const { page } = await stage.open(`/teams/${team.id}/api`, context);
  const section = page.getByRole("region", { name: "Tool for clients of MCP" });
  await section.getByText("Says what the weather is.").waitFor();
  expect(await findings(page)).toEqual([]);
  await section.getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog").waitFor();
  expect(await findings(page)).toEqual([]);
});
