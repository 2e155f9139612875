import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { discussion } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testInBrowser(
  "forks have a sign that leads to the original, and those of the playground are hidden at first",
  async () => {
    const { client } = stage;
    const component = discussion("Yes.", 0);
    const original = await client.teams.create({ id: "desk", label: "Desk", component });
    await original.fork({ id: "quiet-desk", label: "Quiet desk" });
    await original.fork({ id: "tried", label: "Tried", metadata: { playground: true } });
    const { page, complaints } = await stage.open("/teams");
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await row("Quiet desk").getByRole("link", { name: "Fork of Desk" }).waitFor();
    expect(await row("Tried").count()).toBe(0);
    await page.getByLabel("Forks of the playground").check();
    await row("Tried").waitFor();
    await row("Quiet desk").getByRole("link", { name: "Quiet desk" }).click();
    const header = page.getByRole("banner").or(page.locator(".team-head"));
    await header.getByRole("link", { name: "Fork of Desk" }).click();
    await page.getByRole("heading", { level: 1, name: "Desk", exact: true }).waitFor();
    expect(complaints).toEqual([]);
  },
);
