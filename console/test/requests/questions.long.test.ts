import { afterAll, afterEach, beforeAll, expect } from "vitest";
import type { Locator } from "playwright-core";
import type { TeamClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings } from "../support/accessible.ts";
import { careful } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { asked, calling, cardOf, KINDS, listQuestions } from "../support/questions.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const teams: TeamClient[] = [];
afterEach(async () => {
  for (const team of teams.splice(0)) await team.delete();
  await expect.poll(async () => (await stage.client.requests.list()).requests).toEqual([]);
});

testInBrowser("choices, consent and refusals are buttons, and a page is a link", async () => {
  const { page } = await stage.open("/");
  const answers = await listQuestions(page, stage.origin, KINDS);
  const letTimePass = await holdTimers(page);
  const give = async (label: string, button: string): Promise<void> => {
    await cardOf(page, label).getByRole("button", { name: button, exact: true }).press("Enter");
    await cardOf(page, label).getByRole("button", { name: "Undo" }).waitFor();
  };
  expect(await cardOf(page, "text").getByText("“the first”").count()).toBe(1);
  await give("choice", "blue");
  await give("sure", "Accept");
  const link = cardOf(page, "page").getByRole("link", { name: /pay\.example\.com/ });
  expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
  await give("page", "Cancel the question");
  await give("form", "Decline");
  await letTimePass();
  await expect.poll(() => answers.length).toBe(4);
  expect(answers.map((answer) => (answer as { content: string }).content)).toEqual([
    '{"colour":"blue"}',
    "accept",
    "cancel",
    "decline",
  ]);
});

testInBrowser(
  "five approvals fit a screen, and values that the task lacks are marked",
  async () => {
    const { page } = await stage.open("/", { viewport: { width: 1280, height: 800 } });
    const approvals = Array.from({ length: 6 }, (_, index) =>
      asked(`n${index}`, { kind: "approval", tool_call: calling({ currency: "EUR" }) }),
    );
    await listQuestions(page, stage.origin, approvals);
    const box = await page.locator(".requests > li").nth(4).boundingBox();
    expect(box!.y + box!.height).toBeLessThanOrEqual(800);
    const card = cardOf(page, "n0");
    const marked = card.locator("[data-unstated='true']");
    await expect.poll(() => marked.allInnerTexts()).toHaveLength(2);
    expect((await marked.allTextContents()).join(" ")).toMatch(/499.*not in the task.*EUR/);
    await card.getByRole("button", { name: "JSON" }).click();
    await card.getByText('"currency": "EUR"').waitFor();
  },
);

testInBrowser("approvals that are alike are answered together, and undone together", async () => {
  const { page } = await stage.open("/");
  const approvals = [1, 2, 3].map((index) =>
    asked(`n${index}`, { kind: "approval", tool_call: calling({ order: `A${index}` }) }),
  );
  const answers = await listQuestions(page, stage.origin, [...approvals, asked("other", {})]);
  const letTimePass = await holdTimers(page);
  const open = cardOf(page, "n1").getByRole("button", { name: "All 3 alike" });
  await open.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("checkbox", { name: "Desk n2" }).uncheck();
  expect(await findings(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Approve 2" }).press("Enter");
  await page.getByText("2 answers will be sent in a moment.").waitFor();
  await page.getByRole("button", { name: "Undo all" }).press("Enter");
  await cardOf(page, "n3").getByRole("button", { name: "Approve" }).waitFor();
  expect(answers).toEqual([]);
  await open.press("Enter");
  await dialog.getByLabel(/^Reason/).fill("Not today.");
  await dialog.getByRole("button", { name: "Refuse 3" }).press("Enter");
  await letTimePass();
  await expect
    .poll(() => answers)
    .toEqual([1, 2, 3].map(() => ({ approved: false, reason: "Not today." })));
});

testInBrowser(
  "a closed card shows the answer of its question, its expiry or the end of its run",
  async () => {
    const make = async (label: string, component: object): Promise<TeamClient> => {
      const team = await stage.client.teams.create({ component: component as never, label });
      teams.push(team);
      await team.start(`Do it, ${label}.`);
      return team;
    };
    const human = (config: object) => ({
      provider: "UserProxyAgent",
      config: { name: "human", ...config },
    });
    const [told, late, gone] = [
      await make("told", careful({ expression: "1 + 1" })),
      await make("late", human({ timeout_seconds: 20, default_answer: "the usual" })),
      await make("gone", human({})),
    ];
    await expect.poll(async () => (await stage.client.requests.list()).requests.length).toBe(3);
    const { page } = await stage.open("/inbox");
    const card = (label: string): Locator =>
      page.locator(".requests > li", { hasText: `Do it, ${label}.` });
    await card("gone").waitFor();
    expect(await page.locator(".requests > li").first().textContent()).toContain("late");
    const run = async (team: TeamClient): Promise<string> => (await team.runs()).runs[0]!.id;
    const [request] = await told.requests(await run(told));
    await told.answer(await run(told), request!.id, {
      approved: true,
      arguments: { expression: "2 + 2" },
    });
    await card("told").getByText("Approved with changes:").waitFor();
    expect(await card("told").getByRole("list", { name: "Changes" }).textContent()).toContain(
      "1 + 1 → 2 + 2",
    );
    await gone.stop(await run(gone), "now");
    await card("gone").getByText("Withdrawn: its run was cancelled.").waitFor();
    await card("late").getByText("Expired.").waitFor();
    await card("late").getByText("the usual").waitFor();
    expect(await late.requests(await run(late))).toEqual([]);
    expect(await findings(page)).toEqual([]);
  },
);

testInBrowser(
  "the key e opens the first field, and the focus never falls to the body",
  async () => {
    const { page } = await stage.open("/");
    await listQuestions(page, stage.origin, KINDS);
    const focused = (): Promise<string> =>
      page.evaluate("document.activeElement.tagName + ' ' + (document.activeElement.name ?? '')");
    await cardOf(page, "form").getByLabel(/^Name/).waitFor();
    await cardOf(page, "form").focus();
    await page.keyboard.press("e");
    await expect
      .poll(() => cardOf(page, "form").getByLabel(/^Name/).and(page.locator(":focus")).count())
      .toBe(1);
    await page.keyboard.press("Escape");
    await cardOf(page, "approval").focus();
    await page.keyboard.press("e");
    await expect.poll(focused).toMatch(/^(INPUT|TEXTAREA)/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("r");
    await page.keyboard.press("Escape");
    await cardOf(page, "approval").getByRole("button", { name: "Back" }).press("Enter");
    await expect.poll(() => cardOf(page, "approval").and(page.locator(":focus")).count()).toBe(1);
    await cardOf(page, "sure").getByRole("button", { name: "Accept" }).press("Enter");
    await expect.poll(() => cardOf(page, "sure").and(page.locator(":focus")).count()).toBe(1);
    await page.keyboard.press("Control+z");
    await cardOf(page, "sure").getByRole("button", { name: "Accept" }).waitFor();
    expect(await focused()).not.toMatch(/^BODY/);
  },
);
