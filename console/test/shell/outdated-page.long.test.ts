import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** The scripts that a page loads later, which a deployment has removed. */
const LATER = /\/assets\/(?!main-)[\w.-]+\.js$/;

testInBrowser(
  "a page of the version before loads itself again when its scripts are gone",
  async () => {
    const { page } = await stage.open("/");
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    let missing = 0;
    await page.route(LATER, (route) => {
      missing++;
      return route.fulfill({ status: 404, body: "" });
    });
    // The page that the reload gets is of the version that is deployed.
    page.on("request", (request) => {
      if (request.isNavigationRequest()) void page.unroute(LATER);
    });
    const reloaded = page.waitForEvent("load");
    await page.getByRole("link", { name: "Usage" }).click();
    await reloaded;
    expect(missing).toBeGreaterThan(0);
    await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
  },
);

testInBrowser("a page whose scripts stay away says so, once it was loaded again", async () => {
  const { page } = await stage.open("/");
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  await page.route(LATER, (route) => route.fulfill({ status: 404, body: "" }));
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("heading", { name: "A part of this page is missing" }).waitFor();
  await page.unroute(LATER);
  await page.getByRole("button", { name: "Reload" }).click();
  await page.getByRole("heading", { name: "Usage", exact: true }).waitFor();
});
