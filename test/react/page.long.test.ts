import { afterAll, expect } from "vitest";
import { bundlePage, testInBrowser } from "../support/browser.ts";
import { file, Workplace } from "../support/pages.ts";
import { TestWorker } from "../support/worker.ts";
import { html, Stage } from "./support/stage.ts";

const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

testInBrowser("the page of docs/react.md is a chat", async () => {
  const path = "my-chat/page.tsx";
  const script = await bundlePage(place.write(path, file(path)));
  await using stage = await Stage.start();
  const page = { PAGE: html(script) };
  await using worker = await TestWorker.start(page, { entry: "test/react/worker/site.ts" });
  const url = `${await worker.origin}/page`;
  const { page: tab, complaints } = await stage.show({ baseURL: url, teams: [] }, url);
  const button = (name: string) => tab.getByRole("button", { name, exact: true });
  const say = async (text: string, how: string): Promise<void> => {
    await button(how).waitFor();
    await tab.locator("input").fill(text);
    await button(how).click();
  };
  await say("Plan my day.", "Send");
  await tab.locator("i").first().waitFor();
  await say("Something else, please.", "Answer");
  await tab.getByText("Second proposal", { exact: false }).first().waitFor();
  await tab.reload();
  await say("APPROVE", "Answer");
  await button("Send").waitFor();
  await expect
    .poll(() => tab.locator("p b").allTextContents())
    .toEqual(["user", "planner", "human", "planner", "human"]);
  expect(complaints).toEqual([]);
});
