import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { findings } from "../support/accessible.ts";
import { turnTaking } from "../support/components.ts";
import { office, OFFICE_PRICES, officeModels } from "../support/office.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await officeModels([
    {
      name: "limited",
      match: { system: "You write." },
      times: 1,
      fault: { kind: "status", status: 429, headers: { "retry-after": "8" } },
    },
    {
      name: "think",
      match: { system: "You write." },
      hold: true,
      // In the middle of the thought, and in the middle of the text.
      hold_after: [10, 60],
      reply: {
        reasoning: "The sea, and nothing else. ".repeat(8).trim(),
        content: `The **sea** is wide: $x^2$. ${"And wide. ".repeat(40).trim()}`,
      },
    },
    {
      name: "calculate slowly",
      match: { system: "You calculate.", role: "user" },
      hold: true,
      reply: { tool_calls: [{ name: "calculator", arguments: { expression: "6 * 7" } }] },
    },
  ]);
  stage = await ConsoleStage.start({ MODEL_PRICES: OFFICE_PRICES });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

testInBrowser(
  "an agent's line shows its activity, and its thought, tools and answer are one card",
  async () => {
    const component = office(models.url, 3);
    const created = await stage.client.teams.create({ component });
    const { page, complaints } = await stage.open(`/teams/${created.id}`);
    const team = new TeamOnPage(page);
    const card = (name: string) =>
      page.locator("article").filter({ has: page.locator("header", { hasText: name }) });
    const writer = card("writer");
    await team.send("Calculate and write.");

    // From the first moment, with its time.
    await card("clerk")
      .locator(".live", { hasText: /^Thinking\d/ })
      .waitFor();
    // The writer's model is limited for some seconds.
    const limited = writer
      .locator(".live", { hasText: /^Rate limited: attempt 2in \d+ s/ })
      .waitFor();
    models.release("calculate slowly");
    await limited;
    await card("clerk").getByText("Six times seven is 42.").waitFor();
    expect(await card("clerk").count()).toBe(1);
    await card("clerk").locator(".work", { hasText: "calculator" }).waitFor();
    await card("clerk")
      .locator("header", { hasText: /gpt-4o · \d+ tokens · 0\.\d+ · [\d.]+ (s|min)/ })
      .waitFor();

    await writer.locator(".live", { hasText: "Thinking, attempt 2" }).waitFor();
    // The thought is written in its own block, without its marks, and folds itself.
    await writer.locator(".thought", { hasText: "The sea, and nothing else." }).waitFor();
    expect(await writer.innerText()).not.toContain("<think>");
    models.release("think");
    models.rules.hold("think");
    await writer.locator(".live", { hasText: "Writing, attempt 2" }).waitFor();
    await expect.poll(() => writer.locator("details").getAttribute("open")).toBe(null);
    models.release("think");
    await team.status("Waiting for you");
    await writer.getByText(/^Thought for \d/).waitFor();
    expect(await writer.count()).toBe(1);
    await writer.locator("math").waitFor();
    expect(complaints).toEqual([]);

    // After a reload it is the same, with the time of the thought.
    await page.reload();
    await writer.getByText(/^Thought for \d/).waitFor();
    await writer.locator("header", { hasText: /gpt-4o-mini · \d+ tokens/ }).waitFor();
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await findings(page)).toEqual([]);
    }
  },
);

testInBrowser("a pause and a stop answer at once, and can be taken back", async () => {
  await using held = await startFakeOpenAI({
    rules: [{ name: "turn", hold: true, reply: { content: "Yes." } }],
  });
  const created = await stage.client.teams.create({ component: turnTaking(held.url) });
  const { page } = await stage.open(`/teams/${created.id}`);
  const team = new TeamOnPage(page);
  await team.send("Count.");
  await held.held("turn");
  await team.button("Pause").click();
  await team.status("Pausing");
  await page.getByText("pausing after this step").waitFor();
  await team.button("Keep running").click();
  await team.status("Running");
  await team.button("Stop after turn").click();
  await team.status("Stopping");
  await page.getByText("stopping after this turn").waitFor();
  held.release("turn");
  await team.status("Completed");
});
