import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../support/browser.ts";
import { findings, testAppearances } from "./support/accessible.ts";
import { careful } from "./support/components.ts";
import { ConsoleStage, type Tab, TeamOnPage } from "./support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const REFUSED = /status of 422/;

/** Opens the form for a new team. */
async function emptyForm(context = {}): Promise<Tab> {
  await stage.client.teams.create({ template: "writer_critic" });
  const tab = await stage.open("/", context);
  await tab.page.getByRole("button", { name: "New team" }).click();
  await tab.page.getByRole("button", { name: "Form", exact: true }).click();
  await tab.page.getByLabel("Kind of team").waitFor();
  return tab;
}

/** The fields of a participant, by its place. */
function participant(page: Page, place: number) {
  return page.locator(".form-item", { hasText: "Participant" }).nth(place);
}

testInBrowser("a team is made by filling in a form, with mistakes at their fields", async () => {
  const { page, complaints } = await emptyForm();
  await page.getByLabel("Kind of team").selectOption({ label: "Round robin group chat" });
  const first = participant(page, 0);
  await first.getByLabel(/^Name/).fill("poet");
  await first.getByLabel("System message", { exact: true }).fill("Answer in rhyme.");
  await page.getByRole("button", { name: "Create team" }).click();
  const model = first.getByLabel(/^Model \*/);
  await expect
    .poll(() => model.evaluate((element) => element === element.ownerDocument.activeElement))
    .toBe(true);
  expect(await first.locator(".field-errors").allTextContents()).toEqual(["Is missing"]);
  await model.fill("gpt-4o-mini");
  await first.getByLabel("Api key").fill("env:OPENAI_API_KEY");
  await page.getByRole("button", { name: "Add participant" }).click();
  const second = participant(page, 1);
  await second.getByLabel(/^Participant/).selectOption({ label: "User proxy agent" });
  await second.getByLabel(/^Name/).fill("reader");
  await page.getByLabel("Termination condition").selectOption({ label: "Max message termination" });
  await page.getByLabel(/^Max messages/).fill("4");
  await page.getByLabel("Label (optional)").fill("Poets");
  await page.getByRole("button", { name: "Create team" }).click();
  await page.getByRole("heading", { name: "Poets" }).waitFor();
  const id = page.url().split("/").at(-1) ?? "";
  const { component } = await stage.client.team(id).get();
  expect(component).toMatchObject({
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: {
      participants: [
        {
          provider: "autogen_agentchat.agents.AssistantAgent",
          config: {
            name: "poet",
            system_message: "Answer in rhyme.",
            model_client: {
              provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
              config: { model: "gpt-4o-mini" },
            },
          },
        },
        { provider: "autogen_agentchat.agents.UserProxyAgent", config: { name: "reader" } },
      ],
      termination_condition: {
        provider: "autogen_agentchat.conditions.MaxMessageTermination",
        config: { max_messages: 4 },
      },
    },
  });
  expect(complaints.filter((text) => !REFUSED.test(text))).toEqual([]);
});

testInBrowser("every class of the server can be chosen, and has its fields", async () => {
  const { page, complaints } = await emptyForm();
  const kinds = page.getByLabel("Kind of team");
  for (const label of await kinds.locator("option").allTextContents()) {
    if (label === "Choose one") continue;
    await kinds.selectOption({ label });
    await page.locator(".form-object").first().waitFor();
    for (const more of await page.locator(".form-more > summary").all()) {
      await more.click().catch(() => undefined);
    }
  }
  await kinds.selectOption({ label: "Assistant agent" });
  await page.getByText("More settings").last().click();
  for (const name of ["Model client *", "Model context"]) {
    const field = page.getByLabel(name, { exact: true });
    const options = await field.locator("option").allTextContents();
    expect(options.length).toBeGreaterThan(3);
    for (const label of options.slice(1)) await field.selectOption({ label });
  }
  await page.getByRole("button", { name: "Add tool" }).click();
  const tool = page.getByLabel(/^Tool/).first();
  for (const label of (await tool.locator("option").allTextContents()).slice(1)) {
    await tool.selectOption({ label });
  }
  expect(complaints).toEqual([]);
});

testInBrowser("what was filled in goes on as JSON", async () => {
  const { page } = await emptyForm();
  await participant(page, 0).getByLabel(/^Name/).fill("poet");
  await page.getByRole("button", { name: "Component JSON" }).click();
  const json = await page.getByLabel(/^Component, as/).inputValue();
  expect(JSON.parse(json)).toMatchObject({
    config: { participants: [{ config: { name: "poet" } }] },
  });
  await page.getByRole("button", { name: "Form", exact: true }).click();
  expect(await participant(page, 0).getByLabel(/^Name/).inputValue()).toBe("poet");
});

const CODE = 'total = 0\nfor n in range(10):\n    total += n\nprint("sum", total)';

testInBrowser("arguments are edited in fields, checked, and shown as changes", async () => {
  const team = await stage.client.teams.create({ template: "approval_desk" });
  await team.start("Refund A7.");
  const { page, complaints } = await stage.open(`/teams/${team.id}`);
  const approval = page.getByRole("group", { name: "Approval for clerk" });
  await approval.getByRole("button", { name: "Edit arguments" }).click();
  const amount = approval.getByLabel(/^amount/);
  await amount.fill("2000");
  await approval.locator(".field-errors").waitFor();
  await amount.fill("49.9");
  await approval.locator(".field-errors").waitFor({ state: "detached" });
  await approval.getByLabel(/^currency/).selectOption("USD");
  expect(await approval.locator(".diff del").allTextContents()).toEqual(["− 499\n", "− EUR\n"]);
  expect(await approval.locator(".diff ins").allTextContents()).toEqual(["+ 49.9\n", "+ USD\n"]);
  expect(await findings(page)).toEqual([]);
  await approval.getByRole("button", { name: "Approve" }).click();
  await new TeamOnPage(page).status("Completed");
  expect(JSON.stringify((await team.messages()).messages)).toContain("49.90 USD for order A7");
  expect(complaints).toEqual([]);
});

testInBrowser("code in an argument is compared line by line with what was asked", async () => {
  const team = await stage.client.teams.create({ component: careful({ expression: CODE }) });
  await team.start("Go.");
  const { page } = await stage.open(`/teams/${team.id}`);
  const approval = page.getByRole("group", { name: "Approval for clerk" });
  await approval.getByRole("button", { name: "Edit arguments" }).click();
  const code = approval.getByLabel(/^expression/);
  expect(await code.evaluate((element) => element.tagName)).toBe("TEXTAREA");
  await code.fill(CODE.replace("range(10)", "range(20)"));
  expect(await approval.locator(".diff del").allTextContents()).toEqual([
    "− for n in range(10):\n",
  ]);
  expect(await approval.locator(".diff ins").allTextContents()).toEqual([
    "+ for n in range(20):\n",
  ]);
});

testAppearances("axe finds nothing in forms", async (context) => {
  const { page } = await emptyForm(context);
  await page.getByRole("button", { name: "Create team" }).click();
  await page.locator(".field-errors").first().waitFor();
  for (const more of await page.getByText("More settings").all()) await more.click();
  expect(await findings(page)).toEqual([]);
});
