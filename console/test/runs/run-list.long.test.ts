import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { TeamClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

/** More than the field offers at once. */
const OTHERS = 12;

let stage: ConsoleStage;
/** The team that was created first. */
let oldest: TeamClient;
let planner: TeamClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  stage = await ConsoleStage.start();
  const { teams } = stage.client;
  oldest = await teams.create({ component: speaker(["Hello."]), label: "Oldest" });
  await oldest.run("Hello?").result();
  const numbers = Array.from({ length: OTHERS }, (_, index) => index);
  await Promise.all(
    numbers.map((number) =>
      teams.create({ component: speaker(["Hello."]), label: `Other ${number}` }),
    ),
  );
  planner = await teams.create({ template: "human_in_the_loop", label: "Planner" });
  await planner.start("Plan my day.");
}, 120_000);
afterAll(() => stage?.[Symbol.asyncDispose]());

function row(page: Page, label: string): Locator {
  return page.getByRole("row").filter({ hasText: label });
}

testInBrowser("a team is found by its name or id among all teams, with the keyboard", async () => {
  const { page, complaints } = await stage.open("/runs");
  await row(page, "Planner").waitFor();
  const field = page.getByRole("combobox", { name: "Team" });
  const options = page.getByRole("listbox", { name: "Teams" }).getByRole("option");
  await field.click();
  await expect.poll(() => options.count()).toBe(10);
  await options.first().getByText("Planner").waitFor();
  await page.getByText("Type a name or ID to find others.").waitFor();
  expect(await options.getByText("Oldest").count()).toBe(0);

  await field.pressSequentially("other");
  await page.getByText("More teams match.").waitFor();
  await field.press("ArrowDown");
  const active = await options.nth(1).getAttribute("id");
  await expect.poll(() => field.getAttribute("aria-activedescendant")).toBe(active);
  await expect.poll(() => options.nth(1).getAttribute("aria-selected")).toBe("true");
  await field.press("ArrowUp");
  await field.press("ArrowUp");
  await expect.poll(() => options.nth(9).getAttribute("aria-selected")).toBe("true");
  await field.press("Escape");
  await options.first().waitFor({ state: "detached" });
  await expect.poll(() => field.inputValue()).toBe("");

  await field.fill("OLDE");
  await expect.poll(() => options.allTextContents()).toEqual([`Oldest${oldest.id}`]);
  await field.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("team") === oldest.id);
  await row(page, "Planner").waitFor({ state: "detached" });
  await row(page, "Oldest").waitFor();
  await page.reload();
  await expect.poll(() => field.inputValue()).toBe("Oldest");

  // A team without runs that match has its name, too.
  await page.goto(`${stage.origin}/runs?team=${oldest.id}&status=failed`);
  await expect.poll(() => field.inputValue()).toBe("Oldest");
  await page.getByText("No matching runs.").waitFor();
  await field.fill("nobody");
  await page.getByText("No team has this name or ID.").waitFor();
  await field.fill(planner.id);
  await options.getByText("Planner").click();
  await page.waitForURL((url) => url.searchParams.get("team") === planner.id);
  await expect.poll(() => field.inputValue()).toBe("Planner");
  await field.fill("");
  await page.waitForURL((url) => !url.searchParams.has("team"));
  expect(complaints).toEqual([]);
});

testInBrowser("the totals of days, which are UTC, have the open runs beside them", async () => {
  const { page } = await stage.open("/runs");
  const total = page.getByLabel("Total", { exact: true });
  await expect.poll(() => total.textContent()).toMatch(/^2 runs1 open/);
  const [today = ""] = new Date().toISOString().split("T");
  await page.getByLabel("Ended").fill(today);
  await expect.poll(() => total.textContent()).toMatch(/^1 run ended1 more open/);
  await row(page, "Planner").waitFor({ state: "detached" });
  await page.getByRole("group", { name: "Filters" }).getByText("UTC").waitFor();
});

testInBrowser("the id of a run finds it", async () => {
  const [run] = (await oldest.runs()).runs;
  const { page } = await stage.open("/runs");
  await row(page, "Planner").waitFor();
  await page.getByLabel("Search tasks, answers and errors").fill(run?.id ?? "");
  await row(page, "Planner").waitFor({ state: "detached" });
  await row(page, "Oldest").waitFor();
  await page.getByLabel("Total", { exact: true }).getByText("1 run", { exact: true }).waitFor();
});

testInBrowser(
  "a search that finds nothing among the latest runs continues with older ones",
  async () => {
    const { page } = await stage.open("/runs");
    await row(page, "Planner").waitFor();
    // A first page without runs, as of a search whose matches are older than 10,000 others.
    await page.route("**/v1/runs?*", async (route) => {
      const url = new URL(route.request().url());
      const isFirst = !url.searchParams.has("cursor");
      url.searchParams.delete("cursor");
      const response = await route.fetch({ url: url.href });
      const list = (await response.json()) as object;
      const json = isFirst ? { ...list, runs: [], next_cursor: "older" } : list;
      await route.fulfill({ response, json });
    });
    await page.getByLabel("Search tasks, answers and errors").fill("hello");
    await page.getByText("No matching runs among those that were searched.").waitFor();
    await page.getByRole("button", { name: "Search older runs" }).click();
    await row(page, "Oldest").waitFor();
  },
);

testInBrowser("totals of some runs are counted further until they are complete", async () => {
  const { page } = await stage.open("/runs");
  await row(page, "Planner").waitFor();
  const counts = new Map([
    [null, { complete: false, next_cursor: "first" }],
    ["first", { complete: false, next_cursor: "second" }],
    ["second", { complete: true, next_cursor: null }],
  ]);
  const held = Promise.withResolvers<void>();
  // A count of 10,000 runs ends with each answer, as on a server with 30,000 runs.
  await page.route("**/v1/runs?*", async (route) => {
    const url = new URL(route.request().url());
    const after = url.searchParams.get("totals_after");
    url.searchParams.delete("totals_after");
    const response = await route.fetch({ url: url.href });
    if (after === "second") await held.promise;
    const list = (await response.json()) as { totals: object };
    const totals = { ...list.totals, ...counts.get(after) };
    await route.fulfill({ response, json: { ...list, totals } });
  });
  await page.getByLabel("Search tasks, answers and errors").fill("hello");
  const total = page.getByLabel("Total", { exact: true });
  await total.getByText("1 run among the latest 10,000").waitFor();
  await page.getByRole("button", { name: "Look further" }).click();
  await total.getByText("2 runs among the latest 20,000").waitFor();
  await page.getByRole("button", { name: "Stop looking" }).click();
  held.resolve();
  await page.getByRole("button", { name: "Look further" }).click();
  await total.getByText("3 runs", { exact: true }).waitFor();
  await total.getByText("p50 and p95 can't be added up").waitFor();
  expect(await page.getByRole("button", { name: /Look/ }).count()).toBe(0);
  // A change of a filter starts another count.
  await page.getByLabel("Status").selectOption("Completed");
  await total.getByText("1 run among the latest 10,000").waitFor();
});
