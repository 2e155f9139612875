import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { findings } from "../support/accessible.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
let models: FakeOpenAI;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  models = await startFakeOpenAI({
    rules: [
      { name: "writer", match: { system: "You write." }, reply: { content: "A line." } },
      {
        name: "again",
        match: { system: "You judge." },
        times: 1,
        reply: { content: "Shorter. AGAIN" },
      },
      { name: "done", match: { system: "You judge." }, reply: { content: "Good. DONE" } },
      { name: "final", reply: { content: "The final line." } },
    ],
  });
  stage = await ConsoleStage.start();
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

const agent = (name: string, config: object = {}) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  component_type: "agent",
  config: {
    name,
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: {
        chat_completions: ["Yes."],
        model_info: {
          vision: false,
          function_calling: true,
          json_output: false,
          structured_output: false,
          family: "unknown",
        },
      },
    },
    ...config,
  },
});

function node(page: Page, name: string): Locator {
  return page.locator(".node", { has: page.getByText(name, { exact: true }) });
}

testInBrowser(
  "a loop that is drawn with Connect loops, and ends at the exit that it is offered",
  async () => {
    const { page } = await stage.open("/new-team?kind=GraphFlow");
    await node(page, "assistant").click();
    const writer = page.getByRole("complementary", { name: /^About (assistant|writer)/ });
    await writer.getByLabel("Name", { exact: true }).fill("writer");
    await writer.getByLabel("Name", { exact: true }).press("Enter");
    await writer.getByLabel("System message", { exact: true }).fill("You write.");
    await writer.getByText("More model settings").click();
    await writer.getByLabel("API key").fill("test");
    await writer.getByLabel("Base URL").fill(models.url);
    await page.getByRole("button", { name: "Add agent" }).click();
    const adding = page.getByRole("complementary", { name: "Add an agent" });
    await adding.getByLabel("Name", { exact: true }).fill("critic");
    await adding.getByLabel("System message").fill("You judge.");
    await adding.getByLabel("Works after").selectOption("writer");
    await adding.getByRole("button", { name: "Add critic" }).click();

    // The agent of the open form is the one from which the connection goes.
    await page.getByRole("button", { name: "Connect" }).press("Enter");
    await node(page, "writer").press("Enter");
    // The edge says what is missing, and its form has a button for it.
    const edge = page.getByRole("button", { name: /^From critic to writer/ });
    await expect.poll(() => edge.textContent()).toContain("needs a condition");
    await edge.press("Enter");
    const form = page.getByRole("complementary", { name: "From critic to writer" });
    expect(await findings(page)).toEqual([]);
    await form.getByRole("button", { name: "Add an exit" }).click();
    await node(page, "final").waitFor();
    expect(await form.getByLabel(/^Only if the message contains/).inputValue()).toBe("AGAIN");
    await page.getByRole("list", { name: "Mistakes" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Create team" }).click();
    await page.waitForURL(/view=picture/);

    const onPage = new TeamOnPage(page);
    await onPage.send("Write about the sea.");
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    const team = stage.client.team(id);
    const speakers = async (): Promise<string[]> =>
      (await team.messages()).messages
        .filter(({ type }) => type === "TextMessage")
        .map(({ source }) => source);
    await expect
      .poll(speakers, { timeout: 60_000 })
      .toEqual(["user", "writer", "critic", "writer", "critic", "final"]);
    await onPage.status("Completed");
    const { component } = await team.get();
    expect(component.config).toMatchObject({
      max_turns: 20,
      participants: [
        { config: { model_client_stream: true } },
        {
          config: {
            system_message:
              "You judge.\n\nEnd your message with AGAIN if more work is needed, and with DONE if not.",
          },
        },
        { config: { name: "final", model_client_stream: true } },
      ],
      graph: {
        default_start_node: "writer",
        nodes: {
          critic: {
            edges: [
              { target: "writer", condition: "AGAIN", activation_condition: "any" },
              { target: "final", condition: "DONE" },
            ],
          },
        },
      },
    });
  },
);

testInBrowser(
  "an agent that never speaks says so at its node, and is connected by its button",
  async () => {
    const { id } = await stage.client.teams.create({
      component: {
        provider: "autogen_agentchat.teams.Swarm",
        component_type: "team",
        config: { participants: [agent("desk"), agent("refunds")], max_turns: 4 },
      },
    });
    const { page, complaints } = await stage.open(`/teams/${id}?view=picture`);
    const refunds = page.locator(".node", { hasText: "refunds" });
    await refunds.getByText("never speaks", { exact: true }).waitFor();
    await refunds.click();
    const form = page.getByRole("complementary", { name: "About refunds" });
    await form.getByText("refunds never speaks: no agent hands over to it.").waitFor();
    expect(await findings(page)).toEqual([]);
    await form.getByRole("button", { name: "Let desk hand over to it" }).click();
    await refunds.getByText("never speaks", { exact: true }).waitFor({ state: "detached" });

    // The handoff is an edge with a form of its own; Delete removes it.
    const edge = page.getByRole("button", { name: "From desk to refunds", exact: true });
    await edge.click();
    const handoff = page.getByRole("complementary", { name: "From desk to refunds" });
    await handoff.getByLabel("When to hand off").fill("Money is asked for.");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("region", { name: "Unsaved changes" }).waitFor({ state: "detached" });
    expect((await stage.client.team(id).get()).component.config["participants"]).toMatchObject([
      { config: { handoffs: [{ target: "refunds", description: "Money is asked for." }] } },
      {},
    ]);
    await edge.press("Delete");
    await refunds.getByText("never speaks", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  },
);

testInBrowser("a key that its class does not know is renamed by its button", async () => {
  const { page } = await stage.open("/new-team?template=writer_critic");
  await page.getByRole("button", { name: "JSON" }).click();
  const json = page.getByLabel(/^The whole component/);
  const text = await json.inputValue();
  await json.fill(
    text.replace(/"termination_condition"/, '"max_turn": 3, "termination_condition"'),
  );
  const notes = page.getByRole("list", { name: "Notes on the changes" });
  await notes.getByText("Did you mean max_turns?").waitFor();
  await notes.getByRole("button", { name: "Use max_turns" }).click();
  await expect.poll(() => json.inputValue()).toMatch(/"max_turns": 3/);
  await notes.waitFor({ state: "detached" });

  // A printed value of Python is named, and changed by a button.
  await json.fill(
    "{'provider': 'autogen_agentchat.agents.AssistantAgent', 'config': {'name': 'poet', 'description': None, 'tools': [],}}",
  );
  await page.getByText("This is Python").waitFor();
  await page.getByRole("button", { name: "Change it to JSON" }).click();
  await node(page, "poet").waitFor();
});
