import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import type { FakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker } from "../support/components.ts";
import { office, OFFICE_PRICES, officeModels } from "../support/office.ts";
import { ConsoleStage } from "../support/stage.ts";
import { madeUpTrace } from "../support/made-up-trace.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await officeModels([
    { name: "held", match: { any: "Hold on." }, hold: true, reply: { content: "Now." } },
  ]);
  stage = await ConsoleStage.start({ MODEL_PRICES: OFFICE_PRICES });
}, 120_000);
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

/** The line of a step in the timeline. */
function line(page: Page, name: string | RegExp): Locator {
  return page.locator(".timeline-row").filter({ has: page.getByText(name, { exact: true }) });
}

testInBrowser("runs of all teams are listed as they happen, filtered and opened", async () => {
  const { page, complaints } = await stage.open("/runs");
  await page.getByText("No runs yet").waitFor();
  const { client } = stage;
  const planner = await client.teams.create({ template: "human_in_the_loop", label: "Planner" });
  const talker = await client.teams.create({ component: speaker(["Hello."]), label: "Talker" });
  await planner.start("Plan my day.");
  const row = (label: string): Locator => page.getByRole("row").filter({ hasText: label });
  await row("Planner").getByText("Waiting for you").waitFor();
  await talker.run("Hello?").result();
  await row("Talker").getByText("Completed").waitFor();
  await expect.poll(() => page.locator("tbody tr").first().textContent()).toContain("Talker");
  await page.reload();
  await row("Talker").waitFor();

  await page.getByLabel("Status").selectOption("Failed");
  await page.getByText("No matching runs.").waitFor();
  await page.getByLabel("Status").selectOption("Completed");
  await row("Talker").waitFor();
  await expect.poll(() => row("Planner").count()).toBe(0);
  await page.getByLabel("Status").selectOption("Any status");
  await page.getByRole("combobox", { name: "Team" }).fill("planner");
  await page
    .getByRole("listbox", { name: "Teams" })
    .getByRole("option", { name: "Planner" })
    .click();
  await row("Talker").waitFor({ state: "detached" });
  await page.reload();
  await row("Planner").getByRole("link").click();
  await page.getByRole("heading", { name: /^Run/ }).waitFor();

  await page.goto(`${stage.origin}/teams/${talker.id}`);
  await page.getByLabel("More about this team").click();
  await page.getByRole("link", { name: "Runs", exact: true }).last().click();
  await row("Talker").waitFor();
  await expect.poll(() => row("Planner").count()).toBe(0);
  expect(complaints).toEqual([]);
});

testInBrowser("the timeline shows the steps of a run in progress, and its messages", async () => {
  const team = await stage.client.teams.create({
    component: office(models.url),
    label: "Office",
  });
  const { id } = await team.start("How much is six times seven?");
  const { page, complaints } = await stage.open(`/teams/${team.id}/runs/${id}`);
  await line(page, "Waiting for human").waitFor();
  await expect
    .poll(() => page.locator(".step-title").allTextContents())
    .toEqual([
      "Turn 1",
      "Turn 2: clerk",
      "clerk",
      "gpt-4o",
      "calculator",
      "gpt-4o",
      "Turn 3: writer",
      "writer",
      "gpt-4o-mini",
      "Attempt 1",
      "Waits for the rate limit",
      "Attempt 2",
      "Turn 4: human",
      "human",
      "Waiting for human",
    ]);
  await line(page, "gpt-4o-mini").locator(".mark", { hasText: "2 attempts" }).waitFor();
  await line(page, "Attempt 1").locator(".mark", { hasText: "model_rate_limit" }).waitFor();
  // A wait is hatched, also on the bar of the step around it.
  for (const name of ["Waits for the rate limit", "gpt-4o-mini"]) {
    await line(page, name).locator(".bar[data-kind=backoff]").waitFor();
  }
  const background = await page.evaluate(
    "getComputedStyle(document.querySelector('.bar[data-kind=backoff]')).backgroundImage",
  );
  expect(background).toContain("repeating-linear-gradient");
  const wait = line(page, "Waiting for human").locator(".bar-cell");
  await expect.poll(() => wait.textContent()).toMatch(/wait for a human.*has taken \d/);
  // The time grows.
  const before = await wait.textContent();
  await expect.poll(() => wait.textContent()).not.toBe(before);

  const details = page.getByLabel("Step details");
  await line(page, "calculator").click();
  await details.getByText("6 * 7").waitFor();
  await details.locator("pre", { hasText: /^42$/ }).waitFor();
  await line(page, "gpt-4o").nth(1).click();
  await details.getByText("Six times seven is 42.").waitFor();
  await details.getByText(/^Request: 4 messages/).click();
  await details.getByText("How much is six times seven?").waitFor();
  await details.getByText("You calculate.").waitFor();
  await details.getByText(/^About \d+ tokens, estimated with a tokenizer; the server/).waitFor();
  await details.getByText("Parameters").click();
  await details.getByText("gpt-4o", { exact: true }).last().waitFor();
  await details.getByText("Raw reply").click();
  await details.getByText("finish_reason").waitFor();
  await details.getByText("Body for /chat/completions").click();
  await details.locator("code", { hasText: '"content": "You calculate."' }).waitFor();
  await line(page, "gpt-4o").first().click();
  await details.getByText("1 tool", { exact: true }).click();
  await details.getByText("calculator").first().waitFor();
  await line(page, "Attempt 1").click();
  await details.getByText("failed attempt", { exact: true }).waitFor();
  await details.getByText("model_rate_limit: ").waitFor();
  await details.getByText("No partial answer.").waitFor();
  await line(page, "gpt-4o-mini").click();
  const attempts = details.getByRole("list", { name: "Attempts" }).getByRole("listitem");
  await expect
    .poll(() => attempts.allTextContents())
    .toEqual([
      expect.stringMatching(/^Attempt 1: failed, [\d.]+ m?s, model_rate_limit$/),
      expect.stringMatching(/^Waits for the rate limit, [\d.]+ m?s$/),
      expect.stringMatching(/^Attempt 2: done, [\d.]+ m?s$/),
    ]);

  const [question] = await team.requests(id);
  await team.answer(id, question?.id ?? "", { content: "Thank you." });
  await page.locator(".run-bar .status", { hasText: "Completed" }).waitFor();
  await expect.poll(() => wait.textContent()).toContain("took");
  await line(page, "human").click();
  await details.getByText("Thank you.").waitFor();
  await details.getByText("show in conversation").click();
  await page.locator("article", { hasText: "Thank you." }).waitFor();
  expect(complaints).toEqual([]);
});

testInBrowser("the timeline is used with the keyboard alone", async () => {
  const team = await stage.client.teams.create({ component: office(models.url, 2) });
  const { id } = await team.start("How much is six times seven?");
  await expect.poll(async () => (await team.getRun(id)).status).toBe("completed");
  const { page } = await stage.open(`/teams/${team.id}/runs/${id}`);
  const grid = page.getByRole("treegrid");
  const active = page.locator(".timeline-row[data-active=true] .step-title");
  await grid.focus();
  await expect.poll(() => active.textContent()).toBe("Turn 1");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await line(page, "calculator").waitFor({ state: "detached" });
  await page.keyboard.press("ArrowRight");
  await line(page, "calculator").waitFor();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => active.textContent()).toBe("gpt-4o");
  await expect
    .poll(() => grid.getAttribute("aria-activedescendant"))
    .toBe(await page.locator(".timeline-row[data-active=true]").getAttribute("id"));
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByLabel("Step details").getByText("6 * 7").waitFor();
  // The address leads to the step.
  const { page: other } = await stage.open(page.url().slice(stage.origin.length));
  await other.getByLabel("Step details").getByText("6 * 7").waitFor();
  await other.locator(".timeline-row[aria-selected=true]", { hasText: "calculator" }).waitFor();
  await other.context().close();
  await page.keyboard.press("Escape");
  await page.getByLabel("Step details").waitFor({ state: "detached" });
  const whole = page.getByRole("button", { name: "Whole run" });
  await expect.poll(() => whole.isDisabled()).toBe(true);
  await page.keyboard.press("+");
  await expect.poll(() => whole.isDisabled()).toBe(false);
  await page.keyboard.press("0");
  await expect.poll(() => whole.isDisabled()).toBe(true);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("z");
  const bar = line(page, "gpt-4o").last().locator(".bar");
  await expect.poll(async () => (await bar.boundingBox())?.width).toBeGreaterThan(100);
  await page.keyboard.press("End");
  await expect.poll(() => active.textContent()).toMatch(/gpt-4o-mini|Attempt/);
});

testInBrowser("a run is paused, cancelled and retried on its page", async () => {
  const team = await stage.client.teams.create({ component: office(models.url, 1) });
  const { id } = await team.start("Hold on.");
  const { page } = await stage.open(`/teams/${team.id}/runs/${id}`);
  const status = (word: string): Promise<void> =>
    page.locator(".run-bar .status", { hasText: word }).waitFor();
  await line(page, "gpt-4o").waitFor();
  await expect
    .poll(() => line(page, "gpt-4o").locator(".bar-cell").textContent())
    .toContain("so far");
  await page.getByRole("button", { name: "Cancel now" }).click();
  await status("Cancelled");
  await line(page, "gpt-4o").locator(".mark", { hasText: "cancelled" }).waitFor();
  await page.getByRole("button", { name: "Retry" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(id));
  await status("Running");
  await page.getByText("Retry of").waitFor();
  models.release("held");
  await status("Completed");
});

testInBrowser(
  "a run of three days with 20,000 steps is shown with short waits, and only the visible lines",
  async () => {
    const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
    await team.run("Hello?").result();
    const [run] = (await team.runs()).runs;
    const { page, complaints } = await stage.open("/runs");
    const turns = 6_700;
    await page.route("**/trace*", (route) => {
      const url = new URL(route.request().url());
      const cursor = Number(url.searchParams.get("cursor") ?? 0);
      const limit = Number(url.searchParams.get("limit"));
      return route.fulfill({ json: madeUpTrace(team.id, run?.id ?? "", turns, cursor, limit) });
    });
    await page.goto(`${stage.origin}/teams/${team.id}/runs/${run?.id}`);
    const grid = page.getByRole("treegrid");
    // 12 turns are unfolded, with two steps each.
    await expect.poll(() => grid.getAttribute("aria-rowcount")).toBe(String(turns + 12 * 2 + 1));
    expect(await page.locator(".timeline-row").count()).toBeLessThan(80);
    // Work of a second between hours of waiting can be seen.
    const chat = line(page, "gpt").first();
    const width = async (): Promise<number> =>
      (await chat.locator(".bar").boundingBox())?.width ?? 0;
    await grid.focus();
    await page.keyboard.press("End");
    await line(page, `Turn ${turns}: a`).waitFor();
    expect(await page.locator(".timeline-row").count()).toBeLessThan(80);
    await page.keyboard.press("Home");
    for (let key = 0; key < 3; key++) await page.keyboard.press("ArrowDown");
    await page.keyboard.press("z");
    await expect.poll(width).toBeGreaterThan(200);
    const whole = page.getByRole("button", { name: "Whole run" });
    await whole.click();
    await expect.poll(width).toBeLessThan(10);
    const strip = (await page.locator(".overview").boundingBox()) ?? { x: 0, y: 0, width: 0 };
    await page.mouse.move(strip.x + 1, strip.y + 9);
    await page.mouse.down();
    await page.mouse.move(strip.x + strip.width / 50, strip.y + 9);
    await page.mouse.up();
    await expect.poll(() => whole.isDisabled()).toBe(false);
    await page.getByRole("button", { name: "Collapse all turns", exact: true }).click();
    await expect.poll(() => grid.getAttribute("aria-rowcount")).toBe(String(turns + 1));
    expect(complaints).toEqual([]);
  },
  120_000,
);

testInBrowser("a run leads to its position in a long conversation", async () => {
  const numbers = Array.from({ length: 300 }, (_, index) => `Number ${index + 1}.`);
  const config = { participants: [speaker(numbers)], max_turns: 250 };
  const component = { provider: "RoundRobinGroupChat", config };
  const team = await stage.client.teams.create({ component });
  await team.run("Count.").result();
  await team.run("Go on.").result();
  const last = (await team.runs()).runs[0]?.id ?? "";
  const { page } = await stage.open(`/teams/${team.id}/runs/${last}`);
  await page.getByText("From turn 252").click();
  const said = (text: string): Locator => page.getByRole("log").getByText(text, { exact: true });
  await said("Go on.").waitFor();
  // The reader goes where he wants afterwards.
  await page.goto(`${stage.origin}/teams/${team.id}?turn=30`);
  await said("Number 29.").waitFor();
  await expect.poll(() => said("Number 49.").count()).toBe(0);
  await page.getByRole("button", { name: "Latest" }).click();
  await page.getByRole("log").getByText("Number 200.", { exact: true }).waitFor();
  await page.goto(`${stage.origin}/teams/${team.id}?turn=nonsense`);
  await page.getByRole("log").getByText("Number 200.", { exact: true }).waitFor();
});

testInBrowser(
  "runs are searched, sorted, retried and cancelled, and the URL keeps the filters",
  async () => {
    const { client } = stage;
    const broken = await client.teams.create({ component: speaker([]), label: "Broken" });
    await broken
      .run("Say something.")
      .result()
      .catch(() => undefined);
    const held = await Promise.all(
      ["One", "Two"].map((label) =>
        client.teams.create({ component: office(models.url), label: `Held ${label}` }),
      ),
    );
    for (const team of held) await team.start("Hold on. Then fill the table.");
    const { page, complaints } = await stage.open("/runs");
    const row = (label: string): Locator => page.getByRole("row").filter({ hasText: label });
    await row("Broken").getByText("has no answer left").waitFor();
    await page.getByLabel("Search tasks, answers and errors").fill("FILL the table");
    await row("Broken").waitFor({ state: "detached" });
    await page.getByLabel("Total").getByText("2 runs").waitFor();
    await page.getByRole("button", { name: "Duration" }).click();
    await expect
      .poll(() => page.getByRole("columnheader", { name: "Duration" }).getAttribute("aria-sort"))
      .toBe("descending");
    // The heading changes at once, the rows when the answer has come.
    await expect.poll(() => page.locator("tbody tr").first().textContent()).toContain("Held One");
    expect(page.url()).toContain("?q=FILL+the+table&order=seconds");
    await page.reload();
    await row("Held Two").waitFor();
    expect(await row("Broken").count()).toBe(0);

    await page.getByLabel("Select all").check();
    await page.getByRole("button", { name: "Cancel 2" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the runs" }).click();
    await page.getByText("2 runs were cancelled.").waitFor();
    for (const label of ["Held One", "Held Two"]) await row(label).getByText("Cancelled").waitFor();

    await page.getByLabel("Search tasks, answers and errors").fill("something");
    await row("Broken").getByRole("checkbox").check();
    await page.getByRole("button", { name: "Retry 1" }).click();
    await page.getByText("1 run was retried.").waitFor();
    await expect
      .poll(async () => (await broken.runs()).runs.map(({ status }) => status))
      .toEqual(["failed", "failed"]);
    await broken
      .run("Say something else.")
      .result()
      .catch(() => undefined);
    await page.getByRole("combobox", { name: "Team" }).fill("broken");
    await page
      .getByRole("listbox", { name: "Teams" })
      .getByRole("option", { name: "Broken" })
      .click();
    await expect.poll(() => row("Broken").count()).toBe(3);
    await page.getByRole("button", { name: "Created" }).click();
    await page.waitForURL((url) => !url.search.includes("order"));
    const latestFirst = (await broken.runs()).runs.map(
      ({ id }) => `/teams/${broken.id}/runs/${id}`,
    );
    const links = row("Broken").getByRole("link");
    await expect
      .poll(() => links.evaluateAll((all) => all.map((link) => link.getAttribute("href"))))
      .toEqual(latestFirst);
    // Only the last run of a team can be retried.
    await row("Broken").last().getByRole("checkbox").check();
    await page.getByRole("button", { name: "Retry 1" }).click();
    await page.getByText(/1 of 1 run couldn't be retried/).waitFor();
    expect(complaints.filter((complaint) => !complaint.includes("409"))).toEqual([]);

    await page.goto(stage.origin);
    await row("Broken").getByText("Last run failed").waitFor();
  },
);
