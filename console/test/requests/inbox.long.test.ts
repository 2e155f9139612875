import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { TeamClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings } from "../support/accessible.ts";
import { careful } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const teams: TeamClient[] = [];
afterEach(async () => {
  for (const team of teams.splice(0)) await team.delete();
  await expect.poll(listed).toEqual([]);
});

/** The teams whose questions the inbox has. */
async function listed(): Promise<(string | null)[]> {
  const { requests } = await stage.client.requests.list();
  return requests.map(({ team_label }) => team_label);
}

/** A team that waits for an approval. */
async function payment(label: string): Promise<TeamClient> {
  const team = await stage.client.teams.create({ component: careful(), label });
  teams.push(team);
  await team.start(`Pay the bill of ${label}.`);
  await expect.poll(listed).toContain(label);
  return team;
}

async function status(team: TeamClient): Promise<string | undefined> {
  return (await team.runs()).runs[0]?.status;
}

function cardOf(page: Page, label: string): Locator {
  return page.locator(".requests > li", { hasText: `Pay the bill of ${label}.` });
}

/** Presses a button by the keyboard: clicks of the mouse do not count while the layout moves. */
function press(within: Locator, name: string): Promise<void> {
  return within.getByRole("button", { name }).press("Enter");
}

testInBrowser("an answer can be undone until it is sent, and leaves with the page", async () => {
  const [ann, bob] = [await payment("Ann"), await payment("Bob")];
  const { page, complaints } = await stage.open("/inbox");
  const card = cardOf(page, "Ann");
  await cardOf(page, "Bob").waitFor();
  const letTimePass = await holdTimers(page);
  const place = await card.boundingBox();
  const answers: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") answers.push(request.url());
  });
  await press(card, "Approve");
  await card.getByText("Approved.").waitFor();
  await card.getByText(/Sent in \d s/).waitFor();
  expect(await card.boundingBox()).toEqual(place);
  await press(card, "Undo");
  await press(card, "Edit arguments");
  await press(card, "JSON");
  await card.getByLabel("Arguments").fill('{ "expression": "7 * 7" }');
  await press(card, "Approve");
  await press(card, "Undo");
  // The typed arguments are still there.
  await expect.poll(() => card.getByLabel("Arguments").inputValue()).toContain("7 * 7");
  expect(answers).toEqual([]);
  expect(await status(ann)).toBe("waiting");
  await press(card, "Approve");
  await card.getByText("Approved with changes:").waitFor();
  expect(await card.getByRole("list", { name: "Changes" }).textContent()).toBe(
    "expression 6 * 7 → 7 * 7",
  );
  await letTimePass();
  await card.getByText("Sent.", { exact: true }).waitFor();
  await expect.poll(() => card.getByRole("button").count()).toBe(0);
  await expect.poll(() => status(ann)).toBe("completed");
  const { messages } = await ann.messages();
  expect(JSON.stringify(messages)).toContain("49");

  await holdTimers(page);
  await press(cardOf(page, "Bob"), "Approve");
  await page.getByRole("link", { name: "Teams" }).click();
  await expect.poll(() => status(bob)).toBe("completed");
  const cid = await payment("Cid");
  await page.goto(`${stage.origin}/inbox`);
  await cardOf(page, "Cid").waitFor();
  await holdTimers(page);
  await press(cardOf(page, "Cid"), "Approve");
  await page.goto("about:blank");
  await expect.poll(() => status(cid)).toBe("completed");
  expect(complaints).toEqual([]);
});

testInBrowser("a question that another person answered first is not answered again", async () => {
  const team = await payment("Dan");
  const { page } = await stage.open("/inbox");
  const card = cardOf(page, "Dan");
  await card.waitFor();
  await holdTimers(page);
  await press(card, "Approve");
  await card.getByText("Approved.").waitFor();
  const [run] = (await team.runs()).runs;
  const [request] = await team.requests(run!.id);
  await team.answer(run!.id, request!.id, { approved: false });
  await card.getByText("Refused.").waitFor();
  await card.getByText("just now").last().waitFor();
  await expect.poll(() => card.getByRole("button").count()).toBe(0);
});

testInBrowser("the keyboard answers the card that has the focus, and no other one", async () => {
  const [first, second] = [await payment("Eve"), await payment("Fay")];
  const { page } = await stage.open("/inbox");
  await cardOf(page, "Eve").waitFor();
  await cardOf(page, "Fay").waitFor();
  const letTimePass = await holdTimers(page);
  await page.keyboard.press("a");
  await page.keyboard.press("j");
  await page.keyboard.press("a");
  await page.keyboard.press("a");
  const eve = cardOf(page, "Eve");
  await eve.getByText("Approved.").waitFor();
  await page.keyboard.press("Control+z");
  await eve.getByRole("button", { name: "Approve" }).waitFor();
  await page.keyboard.press("r");
  await eve
    .getByLabel(/^Reason/)
    .and(page.locator(":focus"))
    .waitFor();
  await page.keyboard.type("Not today, j k a.");
  await page.keyboard.press("Enter");
  await eve.getByText("Refused:").waitFor();
  await letTimePass();
  await page.keyboard.press("j");
  await page.keyboard.press("e");
  await cardOf(page, "Fay").getByRole("button", { name: "JSON" }).waitFor();
  expect(await findings(page)).toEqual([]);
  await expect.poll(() => status(first)).toBe("completed");
  const { messages } = await first.messages();
  expect(JSON.stringify(messages)).toContain("Not today, j k a.");
  expect(await status(second)).toBe("waiting");
});

testInBrowser(
  "the inbox shows the questions of one team, and the URL keeps the choice",
  async () => {
    const team = await payment("Gus");
    await payment("Hal");
    const { page } = await stage.open("/inbox");
    await page.getByLabel("Team", { exact: true }).selectOption({ label: "Gus" });
    await cardOf(page, "Hal").waitFor({ state: "detached" });
    await cardOf(page, "Gus").waitFor();
    expect(page.url()).toBe(`${stage.origin}/inbox?team=${team.id}`);
    await page.reload();
    await cardOf(page, "Gus").waitFor();
    await expect.poll(() => cardOf(page, "Hal").count()).toBe(0);
  },
);

testInBrowser("the card in the conversation can be undone, too", async () => {
  const team = await payment("Ian");
  const { page } = await stage.open(`/teams/${team.id}`);
  const approval = page.getByRole("group", { name: "Approval for clerk" });
  await approval.waitFor();
  const letTimePass = await holdTimers(page);
  await press(approval, "Approve");
  await approval.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Undo" }).press("Enter");
  await press(approval, "Refuse");
  await approval.getByLabel(/^Reason/).press("Enter");
  await page.getByText("Refused.").waitFor();
  await letTimePass();
  await page.getByText("Refused.").waitFor({ state: "detached" });
  await expect.poll(() => status(team)).toBe("completed");
});

testInBrowser(
  "the browser announces a question that arrives while the page is not used",
  async () => {
    const { page } = await stage.open("/", { permissions: ["notifications"] });
    await page.evaluate(`{
    globalThis.shown = [];
    document.hasFocus = () => false;
    globalThis.Notification = class extends EventTarget {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, options) { super(); shown.push({ title, options, notification: this }); }
      close() {}
    };
  }`);
    const shown = (): Promise<number> => page.evaluate("shown.length");
    await page.getByRole("link", { name: "Inbox" }).click();
    await payment("Jan");
    await cardOf(page, "Jan").waitFor();
    expect(await shown()).toBe(0);
    await page.getByRole("button", { name: "Notify me" }).click();
    await page.getByRole("button", { name: "Notifications are on" }).waitFor();
    await page.getByRole("link", { name: "Teams" }).click();
    await payment("Kim");
    await expect.poll(shown).toBe(1);
    expect(await page.evaluate("shown[0].title + ' ' + shown[0].options.body")).toContain(
      "clerk asks for your approval to call calculator Kim",
    );
    await page.evaluate("shown[0].notification.dispatchEvent(new Event('click'))");
    await page.getByRole("heading", { name: "Inbox" }).waitFor();
  },
);
