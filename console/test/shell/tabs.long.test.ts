import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** A browser without a window sees all of its tabs. */
const VISIBILITY = `
  let hidden = false;
  Object.defineProperty(document, "hidden", { get: () => hidden });
  Object.defineProperty(document, "visibilityState", { get: () => (hidden ? "hidden" : "visible") });
  globalThis.hide = (now) => {
    hidden = now;
    document.dispatchEvent(new Event("visibilitychange"));
  };
`;

async function bringToFront(tab: Page, others: readonly Page[]): Promise<void> {
  for (const other of others) if (other !== tab) await other.evaluate("hide(true)");
  await tab.evaluate("hide(false)");
}

testInBrowser(
  "eight tabs of one browser work, and the titles of hidden tabs still count",
  async () => {
    const { client } = stage;
    const team = await client.teams.create({ component: speaker(["A reply."]), label: "Talk" });
    const { page: first, complaints } = await stage.open("/");
    const context = first.context();
    await context.addInitScript(VISIBILITY);
    await first.reload();
    const tabs = [first];
    for (let count = 1; count < 8; count++) {
      const tab = await context.newPage();
      await tab.goto(`${stage.origin}/teams/${team.id}`);
      tabs.push(tab);
      await bringToFront(tab, tabs);
      await tab.getByRole("heading", { name: "Talk" }).waitFor();
    }
    const last = new TeamOnPage(tabs.at(-1) as Page);
    await last.send("A task.");
    await last.status("Completed");

    const second = tabs[1] as Page;
    await bringToFront(second, tabs);
    await second.getByText("A reply.", { exact: true }).waitFor();
    await new TeamOnPage(second).status("Completed");
    await bringToFront(first, tabs);
    await first.getByRole("row", { name: /Talk.*Idle/ }).waitFor();

    const planner = await client.teams.create({ template: "human_in_the_loop", label: "Planner" });
    await planner.start("Plan my day.");
    await first.getByRole("row", { name: /Planner.*Waiting for you/ }).waitFor();
    await expect.poll(() => second.title()).toBe("(1) Talk · Troupe");
    expect(complaints).toEqual([]);
  },
  240_000,
);
