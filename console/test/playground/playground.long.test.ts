import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { TeamClient } from "troupe/client";
import type { JsonObject } from "../../../src/core/json.ts";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const replay = (text: string) => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  component_type: "replay_chat_completion_client",
  config: { chat_completions: [text], cycle: true },
});

/** An agent with this model. */
function poet(model_client: JsonObject) {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name: "poet",
      system_message: "Answer in rhyme.",
      model_client_stream: true,
      model_client,
    },
  };
}

async function asked(model: JsonObject): Promise<TeamClient> {
  const component = poet(model);
  const team = await stage.client.teams.create({ component, label: "Poet" });
  await team.run("Sing of the sea.").result();
  return team;
}

function variant(page: Page, letter: string): Locator {
  return page.getByRole("region", { name: `Variant ${letter}` });
}

/** Lets a variant say something else. */
async function says(column: Locator, texts: readonly string[]): Promise<void> {
  await column.getByText("More model settings").click();
  const replies = column.getByLabel(/^Chat completions/);
  await replies.fill(JSON.stringify(texts));
}

function forksIn(page: Page): string[] {
  return new URL(page.url()).searchParams.get("forks")?.split(",") ?? [];
}

testInBrowser(
  "variants run beside each other, and the one that is kept changes the team",
  async () => {
    const team = await asked(replay("The sea is deep and blue."));
    const { page, complaints } = await stage.open(`/teams/${team.id}?view=picture`);
    await page.getByRole("link", { name: "Playground" }).click();
    const task = page.getByLabel("Task for all variants");
    expect(await task.inputValue()).toBe("Sing of the sea.");
    const [a, b, c] = [variant(page, "A"), variant(page, "B"), variant(page, "C")];
    await a.getByText("the team as it is").waitFor();
    await page.getByRole("button", { name: "Add a variant" }).click();
    await says(b, ["The sea is wild and blue."]);
    await b.getByLabel("System message").fill("Answer wildly.");
    await c.getByLabel("Server").selectOption({ label: "OpenAI" });
    await page.getByRole("button", { name: "Run 3 variants" }).click();
    await b.getByRole("button", { name: "Keep this variant" }).waitFor();

    // The settings are folded beside an answer, and stay where something has to be changed.
    expect(await b.getByLabel("System message").isVisible()).toBe(false);
    expect(await c.getByLabel("Server").isVisible()).toBe(true);
    // Words that differ are marked; a variant that cannot run says why.
    await expect.poll(() => b.locator("ins").allTextContents()).toEqual(["wild"]);
    await c.getByRole("alert").first().waitFor();
    expect(await a.locator("ins").count()).toBe(0);
    for (const name of ["Cost", "Time", "Tokens"]) await a.getByText(name).waitFor();
    await expect.poll(() => forksIn(page).length).toBe(2);
    const forks = forksIn(page);
    for (const fork of forks) {
      const { forked_from } = await stage.client.team(fork).get();
      expect(forked_from).toMatchObject({ team_id: team.id, turn: 0 });
    }

    // The address keeps the variants.
    await page.reload();
    await expect.poll(() => b.locator("ins").allTextContents()).toEqual(["wild"]);
    expect(await b.getByLabel("System message").inputValue()).toBe("Answer wildly.");
    expect(await task.inputValue()).toBe("Sing of the sea.");

    await b.getByRole("button", { name: "Keep this variant" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Keep variant" }).click();
    await page.waitForURL(/view=picture/);
    expect((await team.get()).component.config["system_message"]).toBe("Answer wildly.");
    for (const fork of forks) {
      await expect(stage.client.team(fork).get()).rejects.toMatchObject({ status: 404 });
    }
    expect(complaints.filter((text) => !/status of 422/.test(text))).toEqual([]);
  },
);

testInBrowser("answers are shown while they are written, and forks can be deleted", async () => {
  const reply = { content: "One two three and so on to ten." };
  await using models = await startFakeOpenAI({
    rules: [{ name: "count", hold_after: [5], reply }],
  });
  const config = { model: "gpt-4o", base_url: models.url, api_key: "test" };
  const team = await asked({ provider: "OpenAIChatCompletionClient", config });
  models.rules.hold("count");
  const { page, complaints } = await stage.open(`/teams/${team.id}/playground`);
  const a = variant(page, "A");
  await page.getByRole("button", { name: "Run 2 variants" }).click();
  const said = a.getByRole("list", { name: "Messages of variant A" });
  await said.getByText("One two three").waitFor();
  expect(await said.getByText("ten.").count()).toBe(0);
  await a.getByText("Running").waitFor();
  await expect.poll(() => forksIn(page).length).toBe(2);
  const forks = forksIn(page);
  await page.getByRole("button", { name: "Delete forks" }).click();
  await page.getByText("The forks were deleted.").waitFor();
  await said.waitFor({ state: "detached" });
  expect(forksIn(page)).toEqual([]);
  for (const fork of forks) {
    await expect(stage.client.team(fork).get()).rejects.toMatchObject({ status: 404 });
  }
  expect(complaints).toEqual([]);
});

testInBrowser(
  "a variant that fails in the middle of its run shows the reason, and the other one continues",
  async () => {
    const component = {
      provider: "autogen_agentchat.teams.RoundRobinGroupChat",
      component_type: "team",
      config: {
        participants: [poet(replay("The sea is deep and blue."))],
        termination_condition: {
          provider: "autogen_agentchat.conditions.MaxMessageTermination",
          component_type: "termination",
          config: { max_messages: 4 },
        },
      },
    };
    const team = await stage.client.teams.create({ component });
    const { page, complaints } = await stage.open(`/teams/${team.id}/playground`);
    const [a, b] = [variant(page, "A"), variant(page, "B")];
    await page.getByLabel("Task for all variants").fill("Sing of the sea.");
    await says(b, ["Once.", "Twice."]);
    await b.getByLabel("Cycle").uncheck();
    await page.getByRole("button", { name: "Run 2 variants" }).click();
    await b.getByText("Failed", { exact: true }).waitFor();
    await b.getByRole("alert").waitFor();
    expect(await b.getByRole("alert").allTextContents()).toEqual([
      expect.stringContaining("has no answer left"),
    ]);
    // The text so far stays, and is not compared as if it were an answer.
    await b.getByText("Twice.", { exact: true }).waitFor();
    await a.getByText("Completed", { exact: true }).waitFor();
    await a.getByRole("button", { name: "Keep this variant" }).waitFor();
    expect(await b.locator("ins").count()).toBe(0);

    await page.reload();
    await b.getByText("Failed", { exact: true }).waitFor();
    await b.getByRole("alert").waitFor();
    await b.getByRole("button", { name: "Keep this variant" }).waitFor();
    expect(complaints).toEqual([]);
  },
);

testInBrowser("the playground survives a reload, in this tab", async () => {
  const team = await asked(replay("Ahoy."));
  const { page } = await stage.open(`/teams/${team.id}/playground`);
  await page.getByRole("button", { name: "Add a variant" }).click();
  await variant(page, "C").getByLabel("System message").fill("Answer wildly.");
  await page.getByLabel("Task for all variants").fill("Sing of the land.");
  await page.getByLabel("Forks start from").selectOption({ label: "No conversation" });
  await page.reload();
  await expect
    .poll(() => variant(page, "C").getByLabel("System message").inputValue())
    .toBe("Answer wildly.");
  expect(await variant(page, "A").getByLabel("System message").inputValue()).toBe(
    "Answer in rhyme.",
  );
  expect(await page.getByLabel("Task for all variants").inputValue()).toBe("Sing of the land.");
  expect(await page.getByLabel("Forks start from").inputValue()).toBe("empty");

  await page.goto(`${stage.origin}/new-team?kind=Swarm`);
  await page.getByLabel("Label").fill("Help desk");
  await page.reload();
  await expect.poll(() => page.getByLabel("Label").inputValue()).toBe("Help desk");
});

testInBrowser(
  "a playground has two to four variants, and only of parts that can be varied",
  async () => {
    const team = await asked(replay("Ahoy."));
    const { page } = await stage.open(`/teams/${team.id}/playground`);
    const adding = page.getByRole("button", { name: "Add a variant" });
    await adding.click();
    await adding.click();
    await variant(page, "D").waitFor();
    expect(await adding.isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Remove variant B" }).click();
    await page.getByRole("button", { name: "Remove variant A" }).click();
    await variant(page, "C").waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: /^Remove variant/ }).count()).toBe(0);
    const human = await stage.client.teams.create({
      component: {
        provider: "autogen_agentchat.agents.UserProxyAgent",
        component_type: "agent",
        config: { name: "human" },
      },
    });
    await page.goto(`${stage.origin}/teams/${human.id}/playground`);
    await page.getByText("there is nothing to vary").waitFor();
  },
);

testAppearances("axe finds nothing in the playground", async (context) => {
  const team = await asked(replay("The sea is deep."));
  const { page } = await stage.open(`/teams/${team.id}/playground`, context);
  await says(variant(page, "B"), ["The sea is wild."]);
  await page.getByRole("button", { name: "Run 2 variants" }).click();
  await variant(page, "B").locator("ins").waitFor();
  await variant(page, "A").getByRole("button", { name: "Keep this variant" }).waitFor();
  expect(await findings(page)).toEqual([]);
});
