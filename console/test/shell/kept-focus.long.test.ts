import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { Sandbox } from "../../../test/support/sandbox.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage } from "../support/stage.ts";

let sandbox: Sandbox;
let stage: ConsoleStage;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  sandbox = await Sandbox.start();
  stage = await ConsoleStage.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
});

/** Expects that the focus is on a shown element of the page, and no longer in a dialog. */
async function expectFocus(page: Page, where: string): Promise<void> {
  const focused =
    "(({ tagName, isConnected }) => isConnected ? tagName : 'removed')(document.activeElement)";
  await expect.poll(() => page.evaluate(focused), { message: where }).not.toMatch(/BODY|removed/);
  expect(await page.evaluate("document.activeElement.checkVisibility()"), where).toBe(true);
}

testInBrowser(
  "the focus stays on the page when a dialog closes and when rows of a list are deleted",
  async () => {
    const { client } = stage;
    const team = await client.teams.create({ component: speaker(["Hello."]) });
    for (const n of [1, 2]) {
      await client.keys.create({ name: `Key ${n}`, scopes: ["teams:read"], expires_in: 60 });
      const hook = { url: "http://127.0.0.1:9/hook", events: ["run.failed" as const] };
      await client.webhooks.put(`hook-${n}`, hook);
      await team.createSchedule({ cron: `0 ${n} * * *`, task: `Report ${n}.` });
      await team.writeFile(`notes-${n}.txt`, "Some notes.");
      await client.memories.add({ scope: "tenant", content: `The fact ${n}.` });
    }
    const lists = [
      { path: "/keys", row: ".item", remove: "Revoke", open: "New key" },
      { path: "/webhooks", row: ".item", remove: "Delete", open: "New webhook" },
      { path: `/teams/${team.id}/schedules`, row: ".item", remove: "Delete", open: "New schedule" },
      { path: `/teams/${team.id}/files`, row: "tbody tr", remove: "Delete", open: "notes-1.txt" },
      { path: "/memory", row: ".item", remove: "Delete", open: "New memory" },
    ];
    const { page } = await stage.open("/");
    for (const { path, row, remove, open } of lists) {
      await page.goto(stage.origin + path);
      const rows = page.locator(row);
      await expect.poll(() => rows.count(), { message: path }).toBe(2);
      const dialog = page.getByRole("dialog");
      await page.getByRole("button", { name: open, exact: true }).press("Enter");
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await expectFocus(page, `${path} after a dialog`);
      for (const left of [1, 0]) {
        const button = rows.first().getByRole("button", { name: new RegExp(`^${remove}`) });
        await button.press("Enter");
        if (remove === "Revoke") {
          await dialog.getByRole("button", { name: remove, exact: true }).press("Enter");
          await dialog.waitFor({ state: "detached" });
        }
        await expect.poll(() => rows.count(), { message: path }).toBe(left);
        await expectFocus(page, `${path} with ${left} rows`);
      }
    }
  },
);
