import type { BrowserContextOptions, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { careful, speaker } from "../support/components.ts";
import { keyOf } from "../support/keys.ts";
import { tabTo } from "../support/keyboard.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

const KEY = "a-key-of-this-test";

let stage: ConsoleStage;
let client: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  const all = ["teams:read", "teams:write", "runs:read", "runs:write", "requests:write"];
  const keys = [keyOf(KEY, all)];
  stage = await ConsoleStage.start({ TROUPE_OPEN: "", API_KEYS: JSON.stringify(keys) });
  client = new TroupeClient({ baseURL: stage.origin, token: KEY });
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** Opens a page that has been given a key. */
async function enter(path: string, context?: BrowserContextOptions, key = KEY): Promise<Page> {
  const { page } = await stage.open(path, context);
  await page.getByLabel("Key or token").fill(key);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return page;
}

const TEXT =
  "A [link](https://example.com), `code`, a table and code:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\n# a comment\nprint('text', 1)\n```\n\n> a quote\n\n- [x] done\n- [ ] open";

testAppearances("axe finds nothing on any screen", async (context) => {
  const { page: login } = await stage.open("/", context);
  await login.getByLabel("Key or token").waitFor();
  expect(await findings(login)).toEqual([]);

  const talk = await client.teams.create({ component: speaker([TEXT]), label: "Talk" });
  await talk.run("Show everything.").result();
  const clerk = await client.teams.create({ component: careful(), label: "Clerk" });
  await clerk.start("Calculate.");
  const planner = await client.teams.create({ template: "human_in_the_loop" });
  await planner.start("Plan my day.");

  const page = await enter("/", context);
  await page.getByRole("link", { name: "Talk" }).first().waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "New team" }).click();
  await page.getByRole("button", { name: /^Writer critic/ }).waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "Component JSON" }).click();
  await page.getByLabel(/^Component JSON from/).fill("{}");
  await page.locator(".mistakes .problem").waitFor();
  expect(await findings(page)).toEqual([]);
  for (const [id, shown] of [
    [talk.id, ".hljs-comment"],
    [clerk.id, ".approval"],
    [planner.id, ".question"],
  ] as const) {
    await page.goto(`${stage.origin}/teams/${id}`);
    await page.locator(shown).first().waitFor();
    expect(await findings(page)).toEqual([]);
  }
  await page.goto(`${stage.origin}/inbox`);
  await page.getByRole("group", { name: "Approval for clerk" }).first().waitFor();
  expect(await findings(page)).toEqual([]);
});

testInBrowser("a key is requested, checked, kept in the tab and forgotten", async () => {
  const { page } = await stage.open("/inbox");
  await page.getByLabel("Key or token").fill("wrong");
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  await page.getByLabel("Key or token").fill(KEY);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  expect(await page.evaluate("JSON.stringify([localStorage, document.cookie])")).not.toContain(KEY);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByLabel("Key or token").waitFor();
});

testInBrowser(
  "a key that is refused is requested again at once, and no typed text is lost",
  async () => {
    const talk = await client.teams.create({ component: speaker(["Hello."]) });
    const page = await enter(`/teams/${talk.id}`);
    const { composer, messages } = new TeamOnPage(page);
    await composer.fill("A task.");
    const refuse = (route: Route): Promise<void> =>
      route.fulfill({
        status: 401,
        json: { status: 401, code: "unauthorized", detail: "It has expired." },
      });
    // The message is refused last, when its field is gone and the page has another one.
    const sent: Route[] = [];
    const others: Route[] = [];
    let answer = async (route: Route): Promise<void> => void others.push(route);
    await page.route("**/v1/**", (route) => {
      if (route.request().method() !== "POST" || sent.length > 0) return answer(route);
      sent.push(route);
      return undefined;
    });
    await composer.press("Enter");
    await expect.poll(() => sent.length).toBe(1);
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /^Find/ }).fill("talk");
    await expect.poll(() => others.length).toBeGreaterThan(0);
    answer = refuse;
    await Promise.all(others.map(refuse));
    await page.getByLabel("Key or token").fill(KEY);
    answer = (route) => route.continue();
    await page.getByRole("button", { name: "Continue" }).click();
    await composer.waitFor();
    await Promise.all(sent.map(refuse));
    await expect.poll(() => composer.inputValue()).toBe("A task.");
    await composer.press("Enter");
    await messages.getByText("Hello.").waitFor();
  },
);

testInBrowser(
  "a team is created, given a task, answered and deleted with the keyboard alone",
  async () => {
    const page = await enter("/");
    await page.getByRole("button", { name: "New team" }).waitFor();
    await tabTo(page, /^New team$/);
    await page.keyboard.press("Enter");
    await page
      .getByRole("button", { name: /^Human in the loop/ })
      .last()
      .waitFor();
    await tabTo(page, /^Human in the loop/);
    await page.keyboard.press("Enter");
    await page.getByText("No messages yet").waitFor();
    const team = new TeamOnPage(page);
    await tabTo(page, /^Give the team a task$/);
    await page.keyboard.type("Plan my day.");
    await page.keyboard.press("Enter");
    await team.status("Waiting for you");
    await page.keyboard.type("APPROVE");
    await page.keyboard.press("Enter");
    await team.status("Completed");
    await tabTo(page, /^More about this team$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Delete$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await tabTo(page, /^More about this team$/);
    await page.keyboard.press("Enter");
    await tabTo(page, /^Delete$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.press("Enter");
    await page.getByText("The team was deleted.").waitFor();
  },
);
