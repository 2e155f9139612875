import { readFileSync } from "node:fs";
import type { Route } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { careful, delegating, speaker, turnTaking } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const LONG = "one two three four five six seven eight nine ten ".repeat(20).trim();
/** A reply of which only the beginning comes. */
const unfinished = {
  reply: { content: LONG },
  fault: { kind: "stall", after_chunks: 5 },
} as const;

testInBrowser("a run is paused, resumed, cancelled and retried", async () => {
  await using models = await startFakeOpenAI({
    rules: [{ name: "turn", hold: true, reply: { content: LONG } }],
  });
  const created = await stage.client.teams.create({ component: turnTaking(models.url) });
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("Count.");
  await models.held("turn");
  await team.button("Pause").click();
  await team.status("Pausing");
  models.release("turn");
  await team.status("Paused");
  models.rules.hold("turn");
  await team.button("Resume").click();
  await team.status("Running");
  await models.held("turn");
  await team.button("Cancel now").click();
  await team.status("Cancelled");
  await team.button("Retry").click();
  await team.status("Running");
  models.release("turn");
  await team.status("Completed");
  await expect.poll(() => team.messages.last().textContent()).toBe(LONG);
  expect(complaints).toEqual([]);
});

testInBrowser(
  "content that a model did not see is reported in the conversation and the timeline",
  async () => {
    const created = await stage.client.teams.create({ component: speaker(["What image?"]) });
    const { page, complaints } = await stage.open(`/teams/${created.id}`);
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const content = ["Look at this.", { data: pixel }];
    const { id } = await created.start([{ type: "MultiModalMessage", source: "user", content }]);
    await page.getByText("speaker: asked without images").waitFor();
    await page.goto(`${stage.origin}/teams/${created.id}/runs/${id}`);
    await page.locator(".timeline-row").getByText("replay", { exact: true }).click();
    const details = page.getByLabel("Step details");
    await details.getByText("asked without images").waitFor();
    expect(complaints).toEqual([]);
  },
);

testInBrowser(
  "a message interrupts the run by its own button, and the next one is queued",
  async () => {
    await using models = await startFakeOpenAI({
      rules: [
        { name: "first", match: { user: "First." }, ...unfinished },
        { name: "second", match: { user: "Second." }, hold: true, reply: { content: "Yes." } },
      ],
    });
    const created = await stage.client.teams.create({ component: served(models.url) });
    const { page } = await stage.open(`/teams/${created.id}`);
    const team = new TeamOnPage(page);
    await team.send("First.");
    await page.getByText("one two three").waitFor();
    await team.composer.fill("Second.");
    await team.button("Queue").waitFor();
    await team.button("Interrupt and send").click();
    await team.messages.getByText("Second.", { exact: true }).waitFor();
    const mark = page.getByText("The run was interrupted by the next message.");
    await mark.waitFor();
    // The half answer stays between its task and the mark.
    const half = page.locator("article", { hasText: "one two three" });
    await half.getByText("Interrupted", { exact: true }).waitFor();
    expect(await half.getAttribute("aria-busy")).toBe("false");
    const order = await page.locator(".row").allInnerTexts();
    const places = ["First.", "one two three", "The run was interrupted", "Second."].map((words) =>
      order.findIndex((text) => text.includes(words)),
    );
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    await team.send("Third.");
    await page.getByText("1 queued").waitFor();
    models.release("second");
    await team.messages.getByText("Third.", { exact: true }).waitFor();
    await expect
      .poll(async () => (await created.runs()).runs.map(({ status }) => status))
      .toEqual(["completed", "completed", "cancelled"]);
    await team.status("Completed");
  },
);

testInBrowser("a message goes into the active run, which continues with it", async () => {
  await using models = await startFakeOpenAI({
    rules: [
      { name: "short", match: { user: "Shorter." }, reply: { content: "Short." } },
      { name: "long", match: { user: "Write." }, hold: true, reply: { content: "Never." } },
    ],
  });
  const created = await stage.client.teams.create({ component: served(models.url) });
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("Write.");
  await models.held("long");
  await team.composer.fill("Shorter.");
  await team.button("Send into the run").click();
  await team.messages.getByText("Shorter.", { exact: true }).waitFor();
  await team.messages.getByText("Short.", { exact: true }).waitFor();
  await team.status("Completed");
  expect(await team.composer.inputValue()).toBe("");
  expect((await created.runs()).runs.map(({ status }) => status)).toEqual(["completed"]);
  const { messages } = await created.messages();
  expect(messages.map((message) => "content" in message && message.content)).toEqual([
    "Write.",
    "Shorter.",
    "Short.",
  ]);
  await team.composer.fill("Next.");
  await team.button("Send").waitFor();
  expect(await team.button("Send into the run").count()).toBe(0);
  expect(complaints).toEqual([]);
});

testInBrowser("queued runs are shown, changed and removed", async () => {
  await using models = await startFakeOpenAI({ rules: [{ name: "all", ...unfinished }] });
  const created = await stage.client.teams.create({ component: served(models.url) });
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("First.");
  await page.getByText("one two three").waitFor();
  await team.send("Second.");
  await team.send("Third.");
  const queue = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
  await expect.poll(() => queue.allTextContents()).toEqual(["Second.", "Third."]);
  await queue.first().getByRole("button", { name: "Edit message" }).click();
  const field = page.getByLabel("Queued message", { exact: true });
  await field.fill("Second, but better.");
  await field.press("Enter");
  await expect.poll(() => queue.allTextContents()).toEqual(["Second, but better.", "Third."]);
  await page.reload();
  await expect.poll(() => queue.allTextContents()).toEqual(["Second, but better.", "Third."]);
  await queue.last().getByRole("button", { name: "Remove message" }).click();
  await expect.poll(() => queue.allTextContents()).toEqual(["Second, but better."]);
  await expect.poll(() => team.composer.inputValue()).toBe("Third.");
  await team.button("Cancel now").click();
  await page.locator("article .body", { hasText: "Second, but better." }).waitFor();
  await expect.poll(() => queue.count()).toBe(0);
  await expect
    .poll(async () => (await created.runs()).runs.map(({ status }) => status))
    .toEqual(["running", "cancelled", "cancelled"]);
  expect(complaints).toEqual([]);
});

testInBrowser(
  "a failed run names the agent and the number of its attempts, and links to its timeline",
  async () => {
    await using models = await startFakeOpenAI({});
    models.rules.set([
      { name: "away", fault: { kind: "status", status: 503, headers: { "retry-after-ms": "5" } } },
    ]);
    const config = { model: "gpt-4o", base_url: models.url, api_key: "sk", retry: { attempts: 3 } };
    const model_client = { provider: "OpenAIChatCompletionClient", config };
    const created = await stage.client.teams.create({
      component: { provider: "AssistantAgent", config: { name: "writer", model_client } },
    });
    const { page } = await stage.open(`/teams/${created.id}`);
    await new TeamOnPage(page).send("Write.");
    const mark = page.getByRole("note");
    await mark.getByText("The run failed in writer after 3 attempts.").waitFor();
    await mark.getByText("503").waitFor();
    expect(await mark.getByRole("button", { name: "Retry this run" }).isVisible()).toBe(true);
    await mark.getByRole("link", { name: "Timeline" }).click();
    await page.waitForURL(/\/runs\//);
  },
);

testInBrowser("text that is typed while a task is being sent is sent after it", async () => {
  const created = await stage.client.teams.create({ component: speaker(["A reply."]) });
  const { page } = await stage.open(`/teams/${created.id}`);
  const held: Route[] = [];
  await page.route("**/runs", async (route) => {
    if (route.request().method() === "POST") held.push(route);
    else await route.continue();
  });
  const sent = async (): Promise<Route> => {
    await expect.poll(() => held.length).toBe(1);
    return held.pop() as Route;
  };
  const team = new TeamOnPage(page);
  await team.send("First.");
  await team.send("Second.");
  await team.composer.fill("Third, unfinished");
  await (await sent()).continue();
  await team.messages.getByText("First.", { exact: true }).waitFor();
  await (await sent()).continue();
  await team.messages.getByText("Second.", { exact: true }).waitFor();
  await expect.poll(() => team.composer.inputValue()).toBe("Third, unfinished");

  await team.send("Fourth.");
  await team.composer.fill("Fifth.");
  await (
    await sent()
  ).fulfill({ status: 413, json: { error: { code: "too_large", message: "Too long." } } });
  await page.getByRole("alert").waitFor();
  await expect.poll(() => team.composer.inputValue()).toBe("Fourth.\nFifth.");
});

testInBrowser("a question is answered at its place in the conversation", async () => {
  const created = await stage.client.teams.create({ template: "human_in_the_loop" });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("Plan my day.");
  await team.status("Waiting for you");
  await page.locator(".question", { hasText: "human is waiting for your answer." }).waitFor();
  await page.getByLabel("Answer human").fill("APPROVE");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await team.status("Completed");
});

testInBrowser(
  "a tool call is approved with other arguments, and shown with its result",
  async () => {
    const created = await stage.client.teams.create({ component: careful() });
    const { page } = await stage.open(`/teams/${created.id}`);
    const team = new TeamOnPage(page);
    await team.send("Calculate.");
    const approval = page.getByRole("group", { name: "Approval for clerk" });
    await approval.getByRole("button", { name: "Edit arguments" }).click();
    await approval.getByRole("button", { name: "JSON" }).click();
    const editor = approval.getByLabel("Arguments");
    await editor.fill('{"expression": 5}');
    await approval.getByRole("button", { name: "Approve" }).click();
    await approval.getByRole("alert").waitFor();
    await editor.fill('{"expression": "2 * 4"}');
    await approval.getByRole("button", { name: "Approve" }).click();
    await team.status("Completed");
    const call = page.locator("details", { hasText: "calculator" }).first();
    await call.locator("summary").click();
    await call.locator(".json").getByText("6 * 7").waitFor();
    await call
      .getByText(/^[^]*8$/)
      .last()
      .waitFor();
  },
);

testInBrowser("the call of a client's tool is answered at its place", async () => {
  const created = await stage.client.teams.create({ component: delegating() });
  const { page } = await stage.open(`/teams/${created.id}`);
  await created.start("Where am I?", { tools: [{ name: "locate" }] });
  await page.getByText("is waiting for the result of").waitFor();
  await page.locator(".dock").getByText("precise").waitFor();
  await page.getByLabel("Answer guide").fill("Vienna");
  await page.getByRole("button", { name: "Answer", exact: true }).click();
  await page.locator("article").getByText("You are there.").waitFor();
  const { runs } = await created.runs();
  expect(JSON.stringify(await created.getRun(runs[0]?.id ?? ""))).toContain('"content":"Vienna"');
});

testInBrowser(
  "the inbox answers for all teams: a refusal with a reason, and an answer",
  async () => {
    const clerk = await stage.client.teams.create({ component: careful() });
    const planner = await stage.client.teams.create({ template: "human_in_the_loop" });
    const { page } = await stage.open("/inbox");
    await page.getByText("No open questions").waitFor();
    await clerk.start("Calculate.");
    const approval = page.getByRole("group", { name: "Approval for clerk" });
    // Clicks of the mouse do not count while the layout moves.
    await approval.getByRole("button", { name: "Refuse" }).press("Enter");
    await approval.getByLabel(/^Reason/).fill("Not today.");
    await approval.getByRole("button", { name: "Refuse" }).press("Enter");
    await page.getByText("Sent.", { exact: true }).waitFor();
    const [refused] = (await clerk.runs()).runs;
    await expect
      .poll(async () => JSON.stringify(await clerk.getRun(refused?.id ?? "")))
      .toContain("Not today.");
    await planner.start("Plan my day.");
    await page.getByLabel("Answer human").fill("APPROVE");
    await page.getByLabel("Answer human").press("Enter");
    await page.getByText("No open questions").waitFor();
  },
);

testInBrowser("a conversation is forked from a message, and with another task", async () => {
  const component = speaker(["The first reply.", "The second reply."]);
  const created = await stage.client.teams.create({ component });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  for (const task of ["First task.", "Second task."]) {
    await team.send(task);
    await page
      .locator("article")
      .getByText(task === "First task." ? "The first reply." : "The second reply.")
      .waitFor();
    await team.status("Completed");
  }
  await page.locator("article", { hasText: "The first reply." }).hover();
  await page
    .locator("article", { hasText: "The first reply." })
    .getByRole("button", { name: "Fork from here" })
    .click();
  await page.waitForURL((url) => !url.pathname.endsWith(created.id));
  await page.locator("article").getByText("The first reply.").waitFor();
  await expect.poll(() => page.getByText("Second task.").count()).toBe(0);

  await page.goto(`${stage.origin}/teams/${created.id}`);
  const task = page.locator("article", { hasText: "Second task." });
  await task.hover();
  await task.getByRole("button", { name: "Edit in a fork" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("Another task.");
  await page.getByRole("button", { name: "Fork and run" }).click();
  await page.waitForURL((url) => !url.pathname.endsWith(created.id));
  await page.getByText("Another task.", { exact: true }).waitFor();
  await page.locator("article").getByText("The second reply.").waitFor();
  await expect.poll(() => page.getByText("Second task.").count()).toBe(0);
});

/** A PNG of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

testInBrowser("an image is attached and shown", async () => {
  const created = await stage.client.teams.create({ component: speaker(["A pixel."]) });
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  const image = { name: "pixel.png", mimeType: "image/png", buffer: Buffer.from(PIXEL, "base64") };
  await page.locator('input[type="file"]').setInputFiles(image);
  await page.getByAltText("pixel.png").waitFor();
  await team.send("What is this?");
  await page.getByAltText("Attached to this message").waitFor();
  expect(complaints).toEqual([]);
});

testInBrowser("a file is attached, shown by its name, and downloaded", async () => {
  const created = await stage.client.teams.create({ component: speaker(["Two lines."]) });
  const { page, complaints } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  const file = { name: "rents.csv", mimeType: "text/csv", buffer: Buffer.from("city,rent\n") };
  await page.locator('input[type="file"]').setInputFiles(file);
  await page.getByLabel("Attached files").getByText("rents.csv").waitFor();
  await team.send("What is in it?");
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "rents.csv" }).click();
  const downloaded = await downloading;
  expect(downloaded.suggestedFilename()).toBe("rents.csv");
  expect(readFileSync(await downloaded.path(), "utf8")).toBe("city,rent\n");
  expect(complaints).toEqual([]);
});

testInBrowser("a team is exported, reset and deleted", async () => {
  const created = await stage.client.teams.create({ component: speaker(["A reply."]) });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("A task.");
  await team.status("Completed");
  const menu = page.getByLabel("More about this team");
  const choose = async (name: string): Promise<void> => {
    await menu.click();
    await team.button(name).click();
  };
  const exported = async (name: string): Promise<string> => {
    const downloading = page.waitForEvent("download");
    await choose(name);
    return readFileSync(await (await downloading).path(), "utf8");
  };
  expect(JSON.parse(await exported("Messages as JSON"))).toMatchObject([
    { content: "A task." },
    { content: "A reply." },
  ]);
  expect(await exported("Conversation as Markdown")).toBe(
    "## user\n\nA task.\n\n## speaker\n\nA reply.\n",
  );
  expect(JSON.parse(await exported("State for AutoGen"))).toMatchObject({
    type: "AssistantAgentState",
  });
  await choose("Reset");
  await page.getByRole("dialog").getByRole("button", { name: "Reset" }).click();
  await page.getByText("The team was reset.").waitFor();
  expect(JSON.stringify(await created.saveState())).not.toContain("A task.");
  await choose("Delete");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("The team was deleted.").waitFor();
  await expect(created.get()).rejects.toMatchObject({ code: "team_not_found" });
});
