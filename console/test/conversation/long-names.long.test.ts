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

const SIZES = [
  { width: 1440, height: 900 },
  { width: 1024, height: 768 },
  { width: 390, height: 844 },
];

/** The controls and texts right of the window, without tabs, which scroll, and heads of tables, which a phone hides. */
function outside(page: Page): Promise<string[]> {
  return page.locator("main :is(a, button, input, select, summary, .status)").evaluateAll(
    (elements, windowWidth) =>
      elements
        .filter((element) => {
          const { width, right } = element.getBoundingClientRect();
          const apart = element.closest(".segments, .team-tabs, thead") !== null;
          return width > 1 && right > windowWidth && !apart;
        })
        .map((element) => element.outerHTML.slice(0, 120)),
    page.viewportSize()?.width ?? 0,
  );
}

testInBrowser(
  "the longest name of a team pushes nothing out of the window, at any size",
  async () => {
    const { client } = stage;
    const label = "L".repeat(200);
    const team = await client.teams.create({ component: speaker(["A reply."]), label });
    await team.run("A task.").result();
    const asks = await client.teams.create({ template: "human_in_the_loop", label });
    await asks.start("Plan my day.");
    const { page } = await stage.open(`/teams/${asks.id}`);

    for (const size of SIZES) {
      await page.setViewportSize(size);
      await page.goto(`${stage.origin}/teams/${asks.id}`);
      await new TeamOnPage(page).status("Waiting for you");
      await page.getByRole("button", { name: "Cancel now" }).click({ trial: true });
      await page.getByLabel("More about this team").click({ trial: true });
      expect(await outside(page), `the team at ${size.width}`).toEqual([]);

      await page.goto(`${stage.origin}/teams/${team.id}/api`);
      await page.getByText("Run a task and wait for the result").waitFor();
      expect(await outside(page), `its API at ${size.width}`).toEqual([]);

      for (const path of ["/teams", "/runs"]) {
        await page.goto(stage.origin + path);
        const row = page.getByRole("row", { name: /LLL.*Completed|LLL.*Idle/ });
        await row.waitFor();
        expect((await row.boundingBox())?.height, `${path} at ${size.width}`).toBeLessThan(160);
        expect(await outside(page), `${path} at ${size.width}`).toEqual([]);
      }
    }
  },
  120_000,
);

testInBrowser("a long call of a tool ends where the conversation does, on a phone", async () => {
  const desk = await stage.client.teams.create({ template: "approval_desk" });
  await desk.start("Refund order A7.");
  const { page } = await stage.open(`/teams/${desk.id}`, {
    viewport: { width: 360, height: 740 },
  });
  const call = page.locator(".fold summary", { hasText: "refund_order" });
  await call.waitFor();
  const box = await call.boundingBox();
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(360);
  expect(await outside(page)).toEqual([]);
});

testInBrowser("the navigation on a phone has five entries, the others under More", async () => {
  const { page } = await stage.open("/", { viewport: { width: 360, height: 740 } });
  const navigation = page.getByRole("navigation", { name: "Main" });
  const entries = navigation.locator("> a, summary");
  const names = navigation.locator("> a .place-name, summary .place-name");
  await expect
    .poll(() => names.allTextContents())
    .toEqual(["Home", "Teams", "Inbox", "Runs", "More"]);
  await navigation.locator("summary").press("Enter");
  await navigation.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("heading", { name: "Webhooks", exact: true }).waitFor();
  await expect.poll(() => entries.last().textContent()).toBe("Webhooks");
  expect(await outside(page)).toEqual([]);
  await page.setViewportSize({ width: 1024, height: 740 });
  await expect.poll(() => entries.count()).toBe(9);
});

testInBrowser("an address of nothing says so and leads to the list", async () => {
  const { page } = await stage.open("/nothing-here");
  await page.getByRole("heading", { name: "Page not found" }).waitFor();
  expect(await page.title()).toContain("Page not found · Troupe");
  for (const [path, heading, list, place] of [
    ["/teams/nothing", "Team not found", "Show all teams", "/teams"],
    ["/teams/nothing/files", "Team not found", "Show all teams", "/teams"],
    ["/webhooks/nothing", "Webhook not found", "Show all webhooks", "/webhooks"],
    [
      "/memory/collections/nothing",
      "Collection not found",
      "Show all collections",
      "/memory/collections",
    ],
  ] as const) {
    await page.goto(stage.origin + path);
    await page.getByRole("heading", { name: heading }).waitFor();
    expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
    await page.getByRole("link", { name: list }).click();
    await page.waitForURL(stage.origin + place);
  }
});
