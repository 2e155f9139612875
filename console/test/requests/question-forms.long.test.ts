import { afterAll, beforeAll, expect } from "vitest";
import type { Locator, Page } from "playwright-core";
import type { AskedRequest, ListedRequest, TeamClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { TestMcpServer } from "../../../test/components/mcp/support/test-server.ts";
import { findings } from "../support/accessible.ts";
import { careful, filling } from "../support/components.ts";
import { holdTimers } from "../support/held-timers.ts";
import { cardOf, FIELDS, KINDS, listQuestions } from "../support/questions.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
let server: TestMcpServer;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  server = await TestMcpServer.start();
  stage = await ConsoleStage.start({ ALLOWED_EGRESS: new URL(server.url).origin });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await server?.[Symbol.asyncDispose]();
});

/** A team whose tool asks the human for these fields. */
async function asking(schema: object): Promise<TeamClient> {
  const component = filling(server.params, schema);
  const team = await stage.client.teams.create({ component, label: "Registry" });
  await team.start("Register the customer.");
  await expect.poll(async () => (await team.get()).status).toBe("waiting");
  return team;
}

/** The names of the fields that have a mistake. */
function mistaken(card: Locator): Promise<string[]> {
  return card
    .locator(".form-field:has(> .field-errors)")
    .locator("> label, > legend")
    .allTextContents();
}

testInBrowser(
  "a form shows the mistakes at its fields, and answers with values of their JSON types",
  async () => {
    const team = await asking(FIELDS);
    const { page, complaints } = await stage.open("/inbox");
    const card = page.locator(".requests > li", { hasText: "Register the customer." });
    const answer = card.getByRole("button", { name: "Answer", exact: true });
    await card.getByLabel(/^Name/).waitFor();
    expect(await card.getByText("Of the customer").count()).toBe(1);
    expect(await card.getByText("JSON object").count()).toBe(0);
    expect(await card.getByLabel("Count").inputValue()).toBe("3");
    await expect.poll(() => mistaken(card)).toEqual([]);

    await answer.press("Enter");
    await expect.poll(() => mistaken(card)).toEqual(["Name *", "Urgent *"]);
    const focused = (field: Locator) => field.and(page.locator(":focus"));
    await focused(card.getByLabel(/^Name/)).waitFor();

    await card.getByLabel(/^Name/).fill("A");
    await card.getByLabel("Mail").fill("no mail");
    await card.getByLabel("Amount").fill("500");
    await answer.press("Enter");
    await expect.poll(() => mistaken(card)).toEqual(["Name *", "Mail", "Amount", "Urgent *"]);
    expect(await findings(page)).toEqual([]);

    await card.getByLabel(/^Name/).fill("Ann");
    await card.getByLabel("Mail").fill("ann@example.com");
    await card.getByLabel("Amount").fill("49.90");
    await answer.press("Enter");
    const urgent = card.getByRole("group", { name: /^Urgent/ });
    await expect.poll(() => mistaken(card)).toEqual(["Urgent *"]);
    await focused(urgent.getByRole("radio", { name: "Yes" })).waitFor();
    await urgent.getByRole("radio", { name: "No" }).check();
    await card.getByLabel("Day").fill("2026-12-24");
    await card.getByLabel("Size").selectOption({ label: "Medium" });
    await card.getByRole("group", { name: "Tags" }).getByLabel("new").check();
    await card.getByLabel("City").fill("Vienna");
    await expect.poll(() => mistaken(card)).toEqual([]);

    const letTimePass = await holdTimers(page);
    await answer.press("Enter");
    await card.getByText("Answered:").waitFor();
    const given = card.locator(".answer-fields > div");
    // A number is shown as it is sent, not as it was typed.
    await expect.poll(() => given.allTextContents()).toContain("amount49.9");
    expect(await given.allTextContents()).toContain("sizeMedium");
    await letTimePass();
    await expect.poll(async () => (await team.get()).status).toBe("idle");
    const said = (await team.messages()).messages.at(-1) as { content?: unknown };
    expect(JSON.parse(String(said.content))).toEqual({
      action: "accept",
      content: {
        name: "Ann",
        mail: "ann@example.com",
        amount: 49.9,
        count: 3,
        urgent: false,
        day: "2026-12-24",
        size: "m",
        tags: ["new"],
        address: { city: "Vienna" },
      },
    });
    expect(complaints).toEqual([]);
    await team.delete();
  },
);

/** Fails if axe finds something in either theme, on a wide page and on a phone. */
async function expectAccessible(page: Page): Promise<void> {
  for (const width of [1_440, 360]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findings(page), `${colorScheme}, ${width} wide`).toEqual([]);
    }
  }
}

testInBrowser(
  "axe finds nothing in open cards of every kind, as they are edited, refused and answered",
  async () => {
    const { page } = await stage.open("/");
    await listQuestions(page, stage.origin, KINDS);
    await holdTimers(page);
    const press = (label: string, name: string): Promise<void> =>
      cardOf(page, label).getByRole("button", { name, exact: true }).press("Enter");
    await cardOf(page, "form").getByLabel(/^Name/).waitFor();
    await expectAccessible(page);

    await press("form", "Answer");
    await expect.poll(() => mistaken(cardOf(page, "form"))).toEqual(["Name *", "Urgent *"]);
    await press("approval", "Edit arguments");
    const edited = cardOf(page, "approval").getByLabel("Arguments");
    await edited.fill('{ "order": "A8" }');
    await cardOf(page, "approval").locator(".diff").first().waitFor();
    await press("code", "Refuse");
    await press("choice", "red");
    await press("page", "Cancel the question");
    await cardOf(page, "text").getByRole("textbox").fill("The second.");
    await press("text", "Answer");
    await cardOf(page, "text").getByText("Answered:").waitFor();
    await expectAccessible(page);
  },
  120_000,
);

/** The answer of a closed question, or its default if it expired; undefined for one that was withdrawn. */
function closedAs(request: ListedRequest): Partial<AskedRequest> | undefined {
  const answered_at = new Date().toISOString();
  const closed = { status: "answered", answered_at, answered_by: "shop" } as const;
  const { id, kind, tool_call: call } = request;
  if (id === "text") {
    const { default_answer: answer } = request;
    return { ...closed, status: "expired", answered_by: null, answer: answer as never };
  }
  if (id === "form") {
    const content = JSON.stringify({ name: "Ann", amount: 49.9, urgent: false, size: "m" });
    return { ...closed, answer: { content } };
  }
  if (id === "approval") {
    const changed = { ...(call?.arguments as object), amount: 49.9 };
    return { ...closed, answer: { approved: true, arguments: changed } };
  }
  if (kind === "approval") return { ...closed, answer: { approved: false, reason: "Not now." } };
  return undefined;
}

testInBrowser(
  "axe finds nothing in cards that were answered elsewhere, expired or were withdrawn",
  async () => {
    const { page } = await stage.open("/");
    await listQuestions(page, stage.origin, KINDS);
    await page.route("**/v1/requests?*", (route) =>
      route.fulfill({ json: { requests: [], next_cursor: null } }),
    );
    await page.route("**/v1/teams/*/runs/*/requests/*", (route) => {
      const request = KINDS.find(({ id }) => route.request().url().endsWith(`/${id}`))!;
      const closed = closedAs(request);
      return closed === undefined
        ? route.fulfill({ status: 404, json: { status: 404, code: "not_found" } })
        : route.fulfill({ json: { ...request, ...closed } });
    });
    await page.route("**/v1/teams/*/runs/run", (route) =>
      route.fulfill({ json: { id: "run", status: "cancelled" } }),
    );
    // The page lists the questions again when one of another team is asked.
    const other = await stage.client.teams.create({ component: careful() });
    await other.start("Calculate.");
    await cardOf(page, "text").getByText("Expired.").waitFor();
    await cardOf(page, "form").getByText("49.9").waitFor();
    await cardOf(page, "approval").getByText("Approved with changes:").waitFor();
    await cardOf(page, "code").getByText("Not now.").waitFor();
    await cardOf(page, "page").getByText("Withdrawn: its run was cancelled.").waitFor();
    await expectAccessible(page);
    await other.delete();
  },
  120_000,
);
