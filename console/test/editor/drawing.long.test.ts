import type { Locator, Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { ConsoleStage, type Tab } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const REFUSED = /status of 422/;

function node(page: Page, name: string): Locator {
  return page.locator(".node", { has: page.getByText(name, { exact: true }) });
}

/** Adds an agent of the usual kind. */
async function add(page: Page, name: string, fill?: (panel: Locator) => Promise<unknown>) {
  await page.getByRole("button", { name: "Add agent" }).click();
  const panel = page.getByRole("complementary", { name: "Add an agent" });
  await panel.getByLabel("Name", { exact: true }).fill(name);
  await fill?.(panel);
  await panel.getByRole("button", { name: `Add ${name}` }).click();
  await page.getByRole("complementary", { name: `About ${name}` }).waitFor();
}

async function draw(kind: string, context = {}): Promise<Tab> {
  const tab = await stage.open("/teams", context);
  const { page } = tab;
  const creating = page.getByRole("button", { name: "New team" });
  const first = page.getByRole("button", { name: "Draw a team" });
  await creating.or(first).first().click();
  await page.getByRole("button", { name: "Draw it" }).click();
  await page.getByRole("dialog").getByRole("link", { name: kind }).click();
  await page.waitForURL(/\/new-team/);
  await node(page, "assistant").waitFor();
  return tab;
}

testInBrowser(
  "a swarm is drawn from an empty page, connected by keyboard, and created",
  async () => {
    const { page, complaints } = await draw("Swarm");
    await add(page, "refunds", async (panel) => {
      await panel.getByLabel(/^Description/).fill("Refunds orders.");
      await panel.getByLabel("System message").fill("You refund.");
      await panel.getByLabel("Handoff from").selectOption("assistant");
    });
    // Back to the first one, without the mouse.
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Connect" }).press("Enter");
    await page.getByText("Choose the agent where the connection starts").waitFor();
    await node(page, "refunds").press("Enter");
    await page.getByText("Choose the agent that comes after refunds").waitFor();
    await node(page, "assistant").press("Enter");
    await page
      .getByRole("complementary", { name: "About refunds" })
      .getByRole("button", { name: "Remove the handoff to assistant" })
      .waitFor();
    await page.getByLabel("Label").fill("Help desk");
    await page.getByRole("button", { name: "Create team" }).click();
    await page.getByRole("heading", { name: "Help desk" }).waitFor();
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const { component } = await stage.client.team(id).get();
    expect(component).toMatchObject({
      provider: "autogen_agentchat.teams.Swarm",
      config: {
        participants: [
          { config: { name: "assistant", handoffs: ["refunds"] } },
          {
            config: {
              name: "refunds",
              description: "Refunds orders.",
              system_message: "You refund.",
              handoffs: ["assistant"],
            },
          },
        ],
        termination_condition: { config: { max_messages: 10 } },
      },
    });
    // The drawing was created, so it is no longer a draft.
    expect(await page.getByText("Your changes are not saved").count()).toBe(0);
    await page.goto(`${stage.origin}/new-team?kind=Swarm`);
    await node(page, "assistant").waitFor();
    expect(await node(page, "refunds").count()).toBe(0);
    expect(complaints).toEqual([]);
  },
);

testInBrowser("a team is drawn before the list of teams has arrived", async () => {
  const { page, complaints } = await stage.open("/");
  const late: Route[] = [];
  const teams = /\/v1\/teams\?/;
  await page.route(teams, (route) => void late.push(route));
  await page.goto(`${stage.origin}/teams`);
  await page.getByRole("button", { name: "New team" }).click();
  await page.getByRole("button", { name: "Draw it" }).click();
  await expect.poll(() => late.length).toBeGreaterThan(0);
  const json = { teams: [], next_cursor: null };
  await page.route(teams, (route) => route.fulfill({ json }));
  for (const route of late) await route.fulfill({ json });
  await page.getByRole("heading", { name: "Start a team", includeHidden: true }).waitFor();
  await page.getByRole("dialog").getByRole("link", { name: "Swarm" }).click();
  await node(page, "assistant").waitFor();
  expect(complaints).toEqual([]);
});

testInBrowser("edges of a graph are pulled with the mouse, and have conditions", async () => {
  const { page, complaints } = await draw("Graph");
  await add(page, "critic", (panel) => panel.getByLabel("Works after").selectOption("assistant"));
  await page.getByRole("button", { name: "Close" }).click();
  await page
    .locator(".node-place", { has: node(page, "critic") })
    .locator(".node-handle")
    .hover();
  await page.mouse.down();
  await node(page, "assistant").hover();
  await page.locator(".way.pulled").waitFor({ state: "attached" });
  await page.mouse.up();
  const critic = page.getByRole("complementary", { name: "About critic" });
  await critic.getByLabel(/^Only if the message contains/).fill("AGAIN");
  await page.locator(".edge-label", { hasText: "AGAIN" }).waitFor();
  // A loop needs an agent with which it ends.
  const mistakes = page.getByRole("list", { name: "Mistakes" });
  await mistakes.getByText("Nothing comes after this loop").waitFor();
  await mistakes.getByRole("button", { name: "critic to assistant" }).click();
  const edge = page.getByRole("complementary", { name: "From critic to assistant" });
  expect(await edge.getByLabel(/^Only if the message contains/).inputValue()).toBe("AGAIN");
  // An edge with a condition has to have another one beside it.
  await add(page, "editor", (panel) => panel.getByLabel("Works after").selectOption("critic"));
  await node(page, "critic").click();
  await critic.getByLabel("Only if the message contains (to editor)").fill("GOOD");
  await mistakes.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Create team" }).click();
  await page.waitForURL(/view=picture/);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const { component } = await stage.client.team(id).get();
  expect(component.config["graph"]).toMatchObject({
    default_start_node: "assistant",
    nodes: {
      assistant: { edges: [{ target: "critic" }] },
      critic: {
        edges: [
          { target: "assistant", condition: "AGAIN" },
          { target: "editor", condition: "GOOD" },
        ],
      },
      editor: { edges: [] },
    },
  });
  expect(complaints.filter((text) => !REFUSED.test(text))).toEqual([]);
});

testInBrowser(
  "changes are undone, kept in the tab, and confirmed before the tab is closed",
  async () => {
    const team = await stage.client.teams.create({ template: "writer_critic" });
    const { page, complaints } = await stage.open(`/teams/${team.id}?view=picture`);
    await node(page, "critic").click();
    const critic = page.getByRole("complementary", { name: "About critic" });
    await critic.getByLabel("System message").fill("Be kind.");
    await critic.getByRole("button", { name: "Move earlier" }).click();
    await critic.getByText("Position 1 of 2").waitFor();
    await critic.getByRole("button", { name: "Remove agent" }).click();
    await node(page, "critic").waitFor({ state: "detached" });
    await page.locator(".drawing-frame").press("Control+z");
    await node(page, "critic").click();
    await critic.getByText("Position 1 of 2").waitFor();
    await page.locator(".drawing-frame").press("Control+z");
    await critic.getByText("Position 2 of 2").waitFor();
    expect(await critic.getByLabel("System message").inputValue()).toBe("Be kind.");

    // Another page of the console says where the changes are.
    await page.getByRole("link", { name: "Conversation", exact: true }).click();
    await page.getByRole("link", { name: "Continue", exact: true }).click();
    await page.getByRole("region", { name: "Unsaved changes" }).waitFor();
    // The dialog of a page that is left is dismissed, so it stays.
    page.reload().catch(() => undefined);
    await expect.poll(() => complaints).toEqual([expect.stringMatching(/^a dialog/)]);
    await node(page, "critic").click();
    expect(await critic.getByLabel("System message").inputValue()).toBe("Be kind.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("region", { name: "Unsaved changes" }).waitFor({ state: "detached" });
    expect(JSON.stringify((await team.get()).component)).toContain("Be kind.");
    await page.reload();
    await page.locator(".node").first().waitFor();
    expect(await page.getByRole("region", { name: "Unsaved changes" }).count()).toBe(0);
  },
);

testInBrowser("JSON changes with the drawing, and so does the kind of a team", async () => {
  const { page } = await draw("Round robin");
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const json = page.getByLabel(/^The whole component/);
  const text = await json.inputValue();
  await json.fill(text.replace('"assistant"', '"poet"'));
  await node(page, "poet").waitFor();
  await json.fill("{");
  await page.getByText("This is not JSON").waitFor();
  await node(page, "poet").waitFor();
  await page.getByRole("button", { name: "Team settings" }).click();
  await page.getByLabel("Kind of team").selectOption({ label: "Selector" });
  await node(page, "selector").waitFor();
  await page.getByLabel("Selector prompt").fill("Who is next?");
  await add(page, "reader", (panel) => panel.getByLabel("Kind").selectOption({ index: 1 }));
  await page.getByRole("button", { name: "Create team" }).click();
  await page.waitForURL(/view=picture/);
  const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  expect((await stage.client.team(id).get()).component).toMatchObject({
    provider: "autogen_agentchat.teams.SelectorGroupChat",
    config: {
      selector_prompt: "Who is next?",
      participants: [
        { config: { name: "poet" } },
        { provider: "autogen_agentchat.agents.UserProxyAgent", config: { name: "reader" } },
      ],
    },
  });
});

testInBrowser("a template is changed before it is created", async () => {
  const { page } = await stage.open("/new-team?template=writer_critic");
  await node(page, "writer").click();
  const writer = page.getByRole("complementary", { name: "About writer" });
  await writer.getByLabel("Name", { exact: true }).fill("two words");
  await writer.getByText("Use letters, digits and _ only").waitFor();
  await writer.getByLabel("Name", { exact: true }).fill("author");
  await writer.getByLabel("Name", { exact: true }).press("Enter");
  await node(page, "author").waitFor();
  await page.getByRole("button", { name: "Create team" }).click();
  await page.getByRole("heading", { name: "Writer critic" }).waitFor();
  await node(page, "author").waitFor();
});

testInBrowser(
  "agents of other classes show their missing parts, and get a team inside",
  async () => {
    const { page, complaints } = await draw("Round robin");
    const kinds = { remote: "A2A agent", mind: "Team as an agent" };
    for (const [name, label] of Object.entries(kinds)) {
      await add(page, name, (panel) => panel.getByLabel("Kind").selectOption({ label }));
    }
    const mistakes = page.getByRole("list", { name: "Mistakes" });
    await mistakes.getByRole("button", { name: "remote: URL" }).click();
    const remote = page.getByRole("complementary", { name: "About remote" });
    await remote.getByLabel(/^URL/).fill("https://agents.example");
    await mistakes.getByText("remote").waitFor({ state: "detached" });
    await node(page, "mind").click();
    await page.getByRole("button", { name: "Show its team" }).click();
    await add(page, "inner");
    await mistakes.waitFor({ state: "detached" });
    expect(complaints.filter((text) => !REFUSED.test(text))).toEqual([]);
  },
);

testInBrowser("every class of the server has its fields", async () => {
  const { page, complaints } = await draw("Assistant agent");
  await node(page, "assistant").click();
  const panel = page.getByRole("complementary", { name: "About assistant" });
  await panel.getByText("Other settings").click();
  await panel.getByText("More settings", { exact: true }).last().click();
  for (const name of [/^Server/, /^Model context/]) {
    const field = panel.getByLabel(name).first();
    await expect.poll(() => field.locator("option").count()).toBeGreaterThan(3);
    const options = await field.locator("option").allTextContents();
    for (const label of options.filter((one) => one !== "None")) {
      await field.selectOption({ label });
    }
  }
  const tools = panel.getByLabel("Add a tool");
  const offered = tools.locator("optgroup").last().locator("option");
  await expect.poll(() => offered.count()).toBeGreaterThan(5);
  const labels = await offered.allTextContents();
  for (const label of labels) await tools.selectOption({ label });
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  expect(await page.getByLabel(/^The whole component/).inputValue()).toContain("HttpTool");
  expect(complaints.filter((text) => !REFUSED.test(text))).toEqual([]);
});

testAppearances("axe finds nothing while a team is drawn", async (context) => {
  const { page } = await draw("Graph", context);
  await page.getByRole("button", { name: "Add agent" }).click();
  await page.getByLabel("Works after").waitFor();
  expect(await findings(page)).toEqual([]);
  await page.getByRole("button", { name: "Close" }).click();
  await add(page, "critic", (panel) => panel.getByLabel("Works after").selectOption("assistant"));
  await page.getByRole("button", { name: "Team settings" }).click();
  await page.getByLabel("The run ends with").selectOption({ label: "One of several conditions" });
  await page.getByLabel("Add a condition").selectOption({ label: "A text that is mentioned" });
  await page.getByRole("list", { name: "Mistakes" }).waitFor();
  expect(await findings(page)).toEqual([]);
});
