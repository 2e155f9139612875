import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testInBrowser(
  "the first page offers templates, and one click creates a team that runs",
  async () => {
    const { page, complaints } = await stage.open();
    await page.getByRole("heading", { name: "Start a team" }).waitFor();
    await page.getByRole("button", { name: /^Writer critic/ }).click();
    await page.waitForURL(/\/teams\/[\w-]+$/);
    const team = new TeamOnPage(page);
    await page.getByText("No messages yet").waitFor();
    await page.getByRole("button", { name: "Try this task" }).click();
    await team.status("Completed");
    await expect.poll(() => team.messages.count()).toBe(7);
    await expect.poll(() => team.messages.first().textContent()).toBe("Write about a lighthouse.");
    await page.getByRole("link", { name: "All teams" }).click();
    await page.getByRole("row", { name: /Writer critic.*Round robin.*Idle/ }).waitFor();
    expect(complaints).toEqual([]);
  },
);

testInBrowser("the list is searched and filtered, and shows changes from elsewhere", async () => {
  const { client } = stage;
  const planner = await client.teams.create({ template: "human_in_the_loop", label: "Planner" });
  await client.teams.create({ template: "writer_critic", label: "Novel" });
  const { page } = await stage.open();
  const row = (label: string) => page.getByRole("row").filter({ hasText: label });
  await row("Planner").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("nov");
  await row("Planner").waitFor({ state: "detached" });
  await row("Novel").waitFor();
  await page.getByRole("searchbox").fill("nothing like that");
  await page.getByText("No matching teams.").waitFor();
  await page.getByRole("searchbox").fill("");
  await page.getByLabel("Status").selectOption("waiting");
  await page.getByText("No matching teams.").waitFor();
  await planner.start("Plan my day.");
  await row("Planner").getByText("Waiting for you").waitFor();
  await expect.poll(() => page.title()).toBe("(1) Home · Troupe");
  await planner.delete();
  await row("Planner").waitFor({ state: "detached" });
  await expect.poll(() => page.title()).toBe("Home · Troupe");
});

const COMPONENT = {
  provider: "autogen_agentchat.agents.UserProxyAgent",
  component_type: "agent",
  config: { name: "human" },
};

testInBrowser("a component is checked as it is typed, with the lines of its mistakes", async () => {
  await stage.client.teams.create({ template: "writer_critic", label: "Another" });
  const { page } = await stage.open();
  await page.getByRole("button", { name: "New team" }).click();
  await page.getByRole("button", { name: "Component JSON" }).click();
  const field = page.getByLabel(/^Component JSON from/);
  const create = page.getByRole("button", { name: "Create team" });
  await field.fill('{\n  "provider": "x"\n  "config": {}\n}');
  await page.getByText("Line 3").waitFor();
  await page.getByText("This is not JSON").waitFor();
  await field.fill(JSON.stringify({ ...COMPONENT, config: { name: 5 } }, null, 2));
  await page.getByText("Line 5").waitFor();
  await page.getByText("component.config.name", { exact: true }).waitFor();
  await expect.poll(() => create.isDisabled()).toBe(true);
  await field.fill(JSON.stringify(COMPONENT));
  await page.getByText("This component is valid.").waitFor();
  await page.getByLabel("Label (optional)").fill("Only me");
  await create.click();
  await page.getByRole("heading", { name: "Only me" }).waitFor();
});

testInBrowser("a file with a component can be dropped", async () => {
  await stage.client.teams.create({ template: "writer_critic", label: "One more" });
  const { page } = await stage.open();
  await page.getByRole("button", { name: "New team" }).click();
  await page.getByRole("button", { name: "Component JSON" }).click();
  await page.getByLabel(/^Component JSON from/).waitFor();
  await page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([${JSON.stringify(JSON.stringify(COMPONENT))}], "team.json"));
    const drop = new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true });
    document.querySelector("textarea").dispatchEvent(drop);
  }`);
  await page.getByText("This component is valid.").waitFor();
  await expect
    .poll(() => page.getByLabel(/^Component JSON from/).inputValue())
    .toBe(JSON.stringify(COMPONENT));
});
