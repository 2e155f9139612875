import { afterAll, expect } from "vitest";
import { bundlePage, testInBrowser } from "../../../support/browser.ts";
import { file, Workplace } from "../../../support/pages.ts";
import { TestWorker } from "../../../support/worker.ts";
import { html, Stage } from "../../../react/support/stage.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

testInBrowser("the page of docs/ai-sdk.md is a chat that survives reloads", async () => {
  const path = "my-ai-chat/page.tsx";
  const script = await bundlePage(place.write(path, file(path)));
  await using stage = await Stage.start();
  const page = { PAGE: html(script) };
  await using worker = await TestWorker.start(page, { entry: "test/react/worker/site.ts" });
  const url = `${await worker.origin}/page`;
  const { page: tab, complaints } = await stage.show({ baseURL: url, teams: [] }, url);
  const resumed: number[] = [];
  tab.on("response", (response) => {
    if (response.url().endsWith("/stream")) resumed.push(response.status());
  });
  const send = tab.getByRole("button", { name: "Send", exact: true });
  const said = tab.locator("section");
  const say = async (text: string): Promise<void> => {
    await send.and(tab.locator(":enabled")).waitFor();
    await tab.locator("input").fill(text);
    await send.click();
  };
  await say("Plan my day.");
  // In the middle of a message.
  await tab.getByText("My proposal", { exact: false }).waitFor();
  await tab.reload();
  await tab.getByText("human asks:", { exact: false }).waitFor();
  await expect.poll(() => resumed).toEqual([204, 200]);
  const roles = () => said.evaluateAll((all) => all.map((one) => one.getAttribute("data-role")));
  await expect.poll(roles).toEqual(["user", "assistant"]);
  await expect
    .poll(() => said.nth(1).locator("p").first().textContent())
    .toMatch(/^My proposal.*change something\?$/);
  // While it waits.
  await tab.reload();
  await tab.getByText("human asks:", { exact: false }).waitFor();
  await say("Something else, please.");
  await tab.getByText("Is that better?", { exact: false }).waitFor();
  await expect.poll(roles).toEqual(["user", "assistant", "user", "assistant"]);
  await say("APPROVE");
  await expect.poll(roles).toHaveLength(6);
  await send.and(tab.locator(":enabled")).waitFor();
  // When nothing is active any more.
  await tab.reload();
  await expect.poll(() => resumed).toEqual([204, 200, 200, 204]);
  await expect.poll(roles).toHaveLength(6);
  expect(complaints).toEqual([]);
});
