import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { ConsoleStage } from "../support/stage.ts";
import { talked } from "../support/talked.ts";

const MESSAGES = 20_000;

let stage: ConsoleStage;
let team: string;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  stage = await ConsoleStage.start({ MAX_BODY_BYTES: "20000000" });
  team = await talked(stage, MESSAGES);
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testInBrowser(`opening a team of ${MESSAGES} messages fetches at most 250 KB`, async () => {
  const { page, complaints } = await stage.open("/");
  const fetched: Promise<number>[] = [];
  page.on("requestfinished", (request) => {
    if (!request.url().includes("/v1/")) return;
    fetched.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(`${stage.origin}/teams/${team}`);
  await page.getByText(`Number ${MESSAGES}`, { exact: true }).waitFor();
  await page.waitForLoadState("load");
  await expect.poll(() => fetched.length).toBeGreaterThan(4);
  const sizes = await Promise.all(fetched);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
  expect(complaints).toEqual([]);
});

testInBrowser("the field of Ctrl+F finds what is not loaded, and leads to it", async () => {
  const { page, complaints } = await stage.open(`/teams/${team}`);
  await page.getByText(`Number ${MESSAGES}`, { exact: true }).waitFor();
  await page.keyboard.press("Control+f");
  const field = page.getByRole("searchbox", { name: "Find in the conversation" });
  await field.fill("number 1234");
  const log = page.getByRole("log");
  const shown = (number: number) =>
    log.locator(".row[data-found=true]").getByText(`Number ${number}`, { exact: true });
  // 1234, and 12340 to 12349: the latest first.
  await page.getByText("1 of 11", { exact: true }).waitFor();
  await shown(12_349).waitFor();
  await field.press("Enter");
  await shown(12_348).waitFor();
  await field.press("Shift+Enter");
  await field.press("Shift+Enter");
  await page.getByText("11 of 11", { exact: true }).waitFor();
  await shown(1_234).waitFor();
  expect(await page.locator("article").count()).toBeLessThan(60);
  await field.fill("never said");
  await page.getByText("Not found", { exact: true }).waitFor();
  await field.press("Escape");
  await expect.poll(() => field.count()).toBe(0);
  expect(await page.evaluate("document.activeElement?.getAttribute('role')")).toBe("log");
  expect(complaints).toEqual([]);
});

testInBrowser("the menu leads to the first message", async () => {
  const { page, complaints } = await stage.open(`/teams/${team}`);
  await page.getByText(`Number ${MESSAGES}`, { exact: true }).waitFor();
  await page.getByLabel("More about this team").click();
  await page.getByRole("link", { name: "Go to the first message" }).click();
  await page.getByText("Number 1", { exact: true }).waitFor();
  expect(complaints).toEqual([]);
});

testInBrowser("paper has the whole loaded conversation, and nothing to click", async () => {
  const { page, complaints } = await stage.open(`/teams/${await talked(stage, 45)}`);
  const log = page.getByRole("log");
  await log.getByText("Number 45", { exact: true }).waitFor();
  expect(await log.locator("article").count()).toBeLessThan(45);
  // Five messages of a run come before them.
  await page.emulateMedia({ media: "print" });
  await expect.poll(() => log.locator("article").count()).toBe(50);
  const boxes = await log.locator("article").evaluateAll((all) =>
    all.map((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return { top, bottom };
    }),
  );
  for (const [index, { top }] of boxes.entries()) {
    const before = boxes[index - 1];
    if (before) expect(Math.abs(top - before.bottom)).toBeLessThan(40);
  }
  const visible = page.locator("button:visible, textarea:visible, nav:visible");
  expect(await visible.count()).toBe(0);
  await page.emulateMedia({ media: "screen" });
  await expect.poll(() => page.locator("article").count()).toBeLessThan(45);
  expect(complaints).toEqual([]);
});
