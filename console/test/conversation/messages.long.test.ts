import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker as served } from "../../../test/client/support/speaker.ts";
import { findings } from "../support/accessible.ts";
import { careful } from "../support/components.ts";
import { everyMessage } from "../support/every-message.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** High enough for all messages: only visible ones are elements. */
const HEIGHT = 9_000;

/** Fails if axe finds something in either theme, on a wide page and on a phone. */
async function expectAccessible(page: Page): Promise<void> {
  for (const width of [1_440, 360]) {
    await page.setViewportSize({ width, height: HEIGHT });
    await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findings(page)).toEqual([]);
    }
  }
}

/** Answers requests for messages with one of every kind. */
async function withEveryMessage(page: Page): Promise<void> {
  await page.route("**/messages?*", (route) =>
    route.fulfill({
      json: { messages: everyMessage(), next_before: null, next_after: null, generation: 1 },
    }),
  );
}

testInBrowser(
  "axe finds nothing in messages of every kind, and in an approval below them",
  async () => {
    const created = await stage.client.teams.create({ component: careful() });
    await created.start("Calculate.");
    await expect.poll(async () => (await created.get()).status).toBe("waiting");
    const { page } = await stage.open("/", { viewport: { width: 1_440, height: HEIGHT } });
    await withEveryMessage(page);
    await page.goto(`${stage.origin}/teams/${created.id}`);
    await page.getByRole("group", { name: "Approval for clerk" }).waitFor();
    await page.getByText("Deep first").waitFor();
    await page.getByText("The answer", { exact: true }).waitFor();
    await page.locator("math").first().waitFor();
    await expectAccessible(page);

    // Code is shown character by character.
    const ligatures = await page.evaluate(
      "getComputedStyle(document.querySelector('.code-block code')).fontVariantLigatures",
    );
    expect(ligatures).toBe("none");
    // A heading is close to the text below it.
    const [heading, text] = await Promise.all(
      ["Deep first", "Text with"].map((words) =>
        page.locator(".markdown > *", { hasText: words }).first().boundingBox(),
      ),
    );
    const gap = (text?.y ?? 0) - (heading?.y ?? 0) - (heading?.height ?? 0);
    expect(gap).toBeLessThan(16);
  },
  120_000,
);

testInBrowser(
  "axe finds nothing in a failed and an interrupted run, and in a text that is written",
  async () => {
    await using models = await startFakeOpenAI({
      rules: [
        {
          name: "fails",
          match: { user: "Fail." },
          fault: { kind: "status", status: 400, message: "No such model." },
        },
        {
          name: "interrupted",
          match: { user: "Begin." },
          hold: true,
          hold_after: [12],
          reply: { content: "### Half\n\nOf an answer, with `code`. ".repeat(9) },
        },
        {
          name: "written",
          match: { user: "Write." },
          hold: true,
          hold_after: [12],
          reply: { reasoning: "#### Hm. ".repeat(30), content: "# Done" },
        },
      ],
    });
    const created = await stage.client.teams.create({ component: served(models.url) });
    const viewport = { width: 1_440, height: HEIGHT };
    const { page } = await stage.open(`/teams/${created.id}`, { viewport });
    const team = new TeamOnPage(page);
    await team.send("Fail.");
    await team.status("Failed");
    await team.send("Begin.");
    await page.getByText("Of an answer").first().waitFor();
    await team.composer.fill("Write.");
    await team.button("Interrupt and send").click();
    await page.getByText("Interrupted", { exact: true }).waitFor();
    await models.held("written");
    await page.locator(".thought[data-streaming=true]").waitFor();
    await team.send("A queued message.");
    await page.getByText("1 queued").waitFor();
    await expectAccessible(page);
  },
  120_000,
);

testInBrowser("axe finds nothing in a comparison of messages of every kind", async () => {
  const created = await stage.client.teams.create({ component: careful() });
  const { page } = await stage.open("/", { viewport: { width: 1_440, height: HEIGHT } });
  await withEveryMessage(page);
  await page.goto(`${stage.origin}/compare?a=${created.id}&b=${created.id}`);
  await page.getByText(/messages in common/).click();
  await page.getByText("Deep first").waitFor();
  await expectAccessible(page);
});
