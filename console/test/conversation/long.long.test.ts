import type { Locator, Route } from "playwright-core";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { ConsoleStage } from "../support/stage.ts";
import { talked } from "../support/talked.ts";

const MESSAGES = 20_000;
const TWO_FRAMES =
  "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start({ MAX_BODY_BYTES: "20000000" });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The numbers of the messages that are on the page. */
async function numbersOf(log: Locator): Promise<number[]> {
  const bodies = await log.locator("article .body").allTextContents();
  return bodies.map((body) => Number(/\d+/.exec(body)?.[0]));
}

testInBrowser(`the page contains only the visible ones of ${MESSAGES} messages`, async () => {
  const team = await talked(stage, MESSAGES);
  const { page, complaints } = await stage.open(`/teams/${team}`);
  const log = page.getByRole("log");
  const body = (number: number) => log.getByText(`Number ${number}`, { exact: true });
  await body(MESSAGES).waitFor();
  // Pages of messages come as they are scrolled to.
  await log.focus();
  const scrolled = async (): Promise<boolean> => {
    await page.keyboard.press("Home");
    return ((await numbersOf(log))[0] ?? MESSAGES) <= MESSAGES - 299;
  };
  await vi.waitUntil(scrolled, { timeout: 60_000, interval: 20 });
  expect(await page.locator("article").count()).toBeLessThan(60);
  await page.getByRole("button", { name: "Latest" }).click();
  await body(MESSAGES).waitFor();
  await expect.poll(async () => (await numbersOf(log)).at(-1)).toBe(MESSAGES);
  const numbers = await numbersOf(log);
  expect(numbers).toEqual(numbers.map((_, index) => MESSAGES - numbers.length + 1 + index));
  expect(complaints).toEqual([]);
});

testInBrowser(
  "a page of messages that arrives late does not move the visible message",
  async () => {
    const team = await talked(stage, 120);
    const { page, complaints } = await stage.open("/");
    const late: Route[] = [];
    await page.route(/\/messages\?before=\d{1,15}&/, (route) => void late.push(route));
    await page.goto(`${stage.origin}/teams/${team}`);
    const log = page.getByRole("log");
    const body = (number: number) => log.getByText(`Number ${number}`, { exact: true });
    const distance = (number: number): Promise<number> =>
      body(number).evaluate(
        (element) =>
          element.getBoundingClientRect().top -
          (element.closest("[role=log]")?.getBoundingClientRect().top ?? 0),
      );
    await body(120).waitFor();
    await log.focus();
    // One waits at the beginning of each page for the one before it.
    for (const [first, before] of [
      [71, 70],
      [21, 20],
    ] as const) {
      // Rows that are measured move what is scrolled. The list knows its place two frames after the browser does.
      const atBeginning = async (): Promise<boolean> => {
        await page.keyboard.press("Home");
        const isThere = (): Promise<boolean> => log.evaluate(({ scrollTop }) => scrollTop === 0);
        if (!(await isThere())) return false;
        await page.evaluate(TWO_FRAMES);
        return isThere();
      };
      await vi.waitUntil(atBeginning, { timeout: 60_000, interval: 20 });
      await expect.poll(() => late.length).toBe(1);
      await late.pop()?.continue();
      await body(before).waitFor();
      await expect.poll(() => distance(first)).toSatisfy((top) => top > 0 && top < 200);
    }
    expect(complaints).toEqual([]);
  },
);
