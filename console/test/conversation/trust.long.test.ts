import { afterAll, beforeAll, expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { TeamClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { Sandbox } from "../../../test/support/sandbox.ts";
import { careful, speaker, turnTaking } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
let sandbox: Sandbox;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  sandbox = await Sandbox.start();
  stage = await ConsoleStage.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
});

/** A team that waits for an approval. */
async function payment(label: string): Promise<TeamClient> {
  const team = await stage.client.teams.create({ component: careful(), label });
  await team.start(`Pay the bill of ${label}.`);
  await expect
    .poll(async () => (await stage.client.requests.list()).requests)
    .toContainEqual(expect.objectContaining({ team_id: team.id }));
  return team;
}

async function status(team: TeamClient): Promise<string | undefined> {
  return (await team.runs()).runs[0]?.status;
}

/** Waits until an element has been in its place for a second: clicks count only then. */
async function atRest(element: Locator): Promise<object | null> {
  let place: object | null = null;
  await expect
    .poll(
      async () => {
        const before = JSON.stringify(place);
        place = await element.boundingBox();
        return JSON.stringify(place) === before;
      },
      { interval: 1_000 },
    )
    .toBe(true);
  return place;
}

/** Clicks where something is, twice, as a hurried hand does. */
async function clickTwice(page: Page, target: Locator): Promise<void> {
  const { x, y, width, height } = (await target.boundingBox())!;
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.getByText("Approved.").waitFor();
  await page.mouse.click(x + width / 2, y + height / 2);
}

testInBrowser("two clicks at the same place of the inbox approve one payment", async () => {
  const teams = [await payment("Ann"), await payment("Bob"), await payment("Cid")];
  const { page } = await stage.open("/inbox");
  const cards = page.locator(".requests .card");
  const card = (text: string): Locator => cards.filter({ hasText: `Pay the bill of ${text}.` });
  await expect.poll(() => cards.count()).toBe(3);
  for (const label of ["Ann", "Bob", "Cid"]) {
    await expect.poll(() => card(label).getByRole("link", { name: label }).count()).toBe(1);
    await expect.poll(() => card(label).textContent()).toContain("calculator");
  }
  const before = await atRest(card("Bob"));
  await clickTwice(page, card("Ann").getByRole("button", { name: "Approve" }));
  await expect.poll(() => status(teams[0]!)).toBe("completed");
  expect(await card("Bob").boundingBox()).toEqual(before);
  expect(await status(teams[1]!)).toBe("waiting");
  expect(await status(teams[2]!)).toBe("waiting");

  // Answered elsewhere: nothing moves either.
  const [request] = await teams[1]!.requests((await teams[1]!.runs()).runs[0]!.id);
  await teams[1]!.answer((await teams[1]!.runs()).runs[0]!.id, request!.id, { approved: true });
  await card("Bob").getByText("Approved.").waitFor();
  expect(await card("Bob").boundingBox()).toEqual(before);
  await atRest(card("Cid"));
  await card("Cid").getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => status(teams[2]!)).toBe("completed");
  await page.getByText("No open questions").waitFor();
});

testInBrowser("a click right after a card has moved has no effect", async () => {
  const team = await payment("Dan");
  const { page } = await stage.open("/inbox");
  const approve = page
    .locator(".card", { hasText: "Pay the bill of Dan." })
    .getByRole("button", { name: "Approve" });
  await approve.waitFor();
  const clicked = await page.evaluate(`(async () => {
    const button = [...document.querySelectorAll(".card button")].find(
      ({ textContent }) => textContent === "Approve",
    );
    button.closest("ul").style.paddingTop = "40px";
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    const click = new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 });
    return button.dispatchEvent(click);
  })()`);
  expect(clicked).toBe(false);
  expect(await status(team)).toBe("waiting");
  await atRest(approve);
  await approve.click();
  await expect.poll(() => status(team)).toBe("completed");
});

testInBrowser("the reasoning of a model has a block of its own, which folds itself", async () => {
  const content = `<think>${"I wonder about it. ".repeat(10)}</think>The answer is 42.`;
  await using models = await startFakeOpenAI({
    rules: [{ name: "think", hold: true, hold_after: [12], pace_ms: 20, reply: { content } }],
  });
  const created = await stage.client.teams.create({ component: served(models.url) });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("What is it?");
  await page.locator(".thought", { hasText: "I wonder about it." }).waitFor();
  models.release("think");
  for (let done = false; !done;) {
    expect(await page.locator(".conversation").innerText()).not.toMatch(/<\/?think/);
    expect(await page.locator("article .body").last().innerText()).not.toMatch(/I wonder/);
    done = await page.locator("article").getByText("The answer is 42.").isVisible();
  }
  await team.status("Completed");
  await page.getByText("I wonder about it.").waitFor({ state: "hidden" });
  await page.getByText(/^Thought/).click();
  await page.getByText("I wonder about it.").waitFor();
});

testInBrowser("the output of code is shown unchanged", async () => {
  const created = await stage.client.teams.create({
    component: {
      provider: "CodeExecutorAgent",
      config: {
        name: "runner",
        code_executor: { provider: "SandboxCodeExecutor", config: {} },
        sources: ["user"],
      },
    },
  });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("```python\nprint('1*2*3')\nprint('# no heading')\n```");
  const printed = page.locator("article", { hasText: "# no heading" }).last().locator("pre.plain");
  await printed.waitFor();
  await expect.poll(() => printed.innerText()).toContain("1*2*3");
});

testInBrowser("a table is scrolled if its words do not fit", async () => {
  const words = Array.from({ length: 9 }, (_, n) => `internationalization${n}`);
  const table = [words, words.map(() => "---"), words].map((row) => `| ${row.join(" | ")} |`);
  const created = await stage.client.teams.create({ component: speaker([table.join("\n")]) });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("List them.");
  await team.status("Completed");
  const region = page.getByRole("group", { name: "Table" });
  await region.waitFor();
  const { scrolls, lines } = await page.evaluate<{ scrolls: boolean; lines: number[] }>(`(() => {
    const shown = document.querySelector('[aria-label="Table"]');
    const lines = [...shown.querySelectorAll("td")].map((cell) => {
      const range = document.createRange();
      range.selectNodeContents(cell);
      return new Set([...range.getClientRects()].map(({ top }) => top)).size;
    });
    return { scrolls: shown.scrollWidth > shown.clientWidth, lines };
  })()`);
  expect(scrolls).toBe(true);
  expect(new Set(lines)).toEqual(new Set([1]));
});

testInBrowser(
  "a run that failed or was cancelled leaves a mark, and the last one can be retried",
  async () => {
    await using models = await startFakeOpenAI({
      rules: [{ name: "turn", hold: true, reply: { content: "Yes." } }],
    });
    const created = await stage.client.teams.create({ component: turnTaking(models.url) });
    const { page } = await stage.open(`/teams/${created.id}`);
    const team = new TeamOnPage(page);
    await team.send("Count.");
    await models.held("turn");
    await team.button("Cancel now").click();
    await page.getByRole("note").getByText("The run was cancelled.").waitFor();
    await page.getByRole("note").getByRole("button", { name: "Retry this run" }).click();
    await page.getByRole("note").getByText("It was retried.").waitFor();
    models.release("turn");
    await team.status("Completed");
    await page.reload();
    await page.getByRole("note").getByText("The run was cancelled. It was retried.").waitFor();

    const failing = await stage.client.teams.create({ component: speaker([]) });
    await page.goto(`${stage.origin}/teams/${failing.id}`);
    await team.send("Say it.");
    const note = page.getByRole("note");
    await note.getByText("The run failed in speaker.").waitFor();
    await team.send("Say it again.");
    await expect.poll(() => note.count()).toBe(2);
    await expect.poll(() => note.getByRole("button").count()).toBe(1);
    const order = await page.locator(".row").allInnerTexts();
    const place = (text: string): number => order.findIndex((row) => row.includes(text));
    expect(place("The run failed")).toBeGreaterThan(place("Say it."));
    expect(place("The run failed")).toBeLessThan(place("Say it again."));
  },
);

testInBrowser("Enter during a run queues the message", async () => {
  await using models = await startFakeOpenAI({
    rules: [{ name: "turn", hold: true, reply: { content: "Yes." } }],
  });
  const created = await stage.client.teams.create({ component: served(models.url) });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("First.");
  await team.status("Running");
  await team.send("Second.");
  await page.getByText("1 queued").waitFor();
  models.release("turn");
  await expect
    .poll(async () => (await created.runs()).runs.map(({ status: ended }) => ended))
    .toEqual(["completed", "completed"]);
  await team.messages.getByText("Second.", { exact: true }).waitFor();
  await team.status("Completed");
});
