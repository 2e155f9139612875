import { afterAll, beforeAll, expect } from "vitest";
import type { CreateTeam } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const replay = (text: string, chunk_delay_ms = 0) => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  component_type: "replay_chat_completion_client",
  config: { chat_completions: [text], cycle: true, chunk_delay_ms },
});

const KEY = "sk-kept-secret-1234";

/** A swarm of two, the second with a hosted model whose key is a secret. */
function swarm(delay = 0): NonNullable<CreateTeam["component"]> {
  const agent = (name: string, config: object) => ({
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name,
      description: `The ${name}.`,
      system_message: `You are the ${name}.`,
      model_client_stream: true,
      ...config,
    },
  });
  const hosted = {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    component_type: "model",
    config: { model: "gpt-4o", api_key: KEY, base_url: "http://127.0.0.1:9/v1" },
  };
  return {
    provider: "autogen_agentchat.teams.Swarm",
    component_type: "team",
    config: {
      participants: [
        agent("desk", { model_client: replay("Desk has read it. ".repeat(50).trim(), delay) }),
        agent("refunds", { model_client: hosted }),
      ],
      termination_condition: {
        provider: "autogen_agentchat.conditions.MaxMessageTermination",
        component_type: "termination",
        config: { max_messages: 2 },
      },
    },
  };
}

async function openEditor(id: string, name: string, context = {}) {
  const tab = await stage.open(`/teams/${id}?view=picture`, context);
  await tab.page.locator(".node", { hasText: name }).click();
  const editor = tab.page.getByRole("complementary", { name: `About ${name}` });
  await editor.getByLabel("System message").waitFor();
  return { ...tab, editor, bar: tab.page.getByRole("region", { name: "Unsaved changes" }) };
}

testInBrowser("an agent is changed where it is drawn, and its stored key stays", async () => {
  const team = await stage.client.teams.create({ component: swarm() });
  const { page, editor, bar, complaints } = await openEditor(team.id, "refunds");
  await editor.getByLabel("System message").fill("You refund what is broken.");
  // The catalogue's names are offered, and others can be typed.
  const model = editor.getByLabel("Model", { exact: true });
  const list = page.locator(`[id="${await model.getAttribute("list")}"] option`);
  await expect
    .poll(() => list.evaluateAll((all) => all.map((one) => one.getAttribute("value"))))
    .toContain("gpt-4o-mini");
  await model.fill("gpt-4o-mini");
  await editor.getByLabel("Temperature").fill("0.3");
  await editor.getByLabel("Add a tool").selectOption({ label: "calculator" });
  await editor.getByLabel("Hand off to").fill("desk");
  await editor
    .getByRole("group", { name: "Handoffs" })
    .getByRole("button", { name: "Add" })
    .click();
  // The picture has the handoff before it is saved.
  await expect.poll(() => page.locator(".way").count()).toBe(2);
  await bar.getByRole("button", { name: "Save", exact: true }).click();
  await bar.waitFor({ state: "detached" });
  const { component } = await team.get();
  const [, refunds] = component.config["participants"] as { config: Record<string, unknown> }[];
  expect(refunds?.config).toMatchObject({
    system_message: "You refund what is broken.",
    handoffs: ["desk"],
    tools: [{ config: { name: "calculator" } }],
    model_client: { config: { model: "gpt-4o-mini", temperature: 0.3, api_key: "**********" } },
  });
  expect(complaints).toEqual([]);
});

testInBrowser("an agent gets skills and a search for tools, which are saved", async () => {
  await stage.client.skills.put("refunds", {
    "SKILL.md": "---\nname: refunds\ndescription: Decides about refunds.\n---\nUp to 50 euros.",
  });
  const team = await stage.client.teams.create({ component: swarm() });
  const { page, editor, bar, complaints } = await openEditor(team.id, "refunds");
  const saved = async (): Promise<unknown> => {
    await bar.getByRole("button", { name: "Save", exact: true }).click();
    await bar.waitFor({ state: "detached" });
    const [, refunds] = (await team.get()).component.config["participants"] as { config: object }[];
    return refunds?.config;
  };
  const skill = editor.getByLabel("Add a skill");
  const list = page.locator(`[id="${await skill.getAttribute("list")}"] option`);
  expect(await list.evaluateAll((all) => all.map((one) => one.getAttribute("value")))).toEqual([
    "refunds",
  ]);
  await skill.fill("refunds");
  await skill.press("Enter");
  await editor.getByLabel("Search tools if there are more than 20").check();
  await bar.getByText("Unsaved changes").waitFor();
  expect(await saved()).toMatchObject({ skills: ["refunds"], tool_search: true });

  await editor.getByLabel("Always offer", { exact: true }).fill("read_order");
  await editor.getByLabel("Always offer", { exact: true }).press("Enter");
  await editor.getByLabel("Most tools that a search finds").fill("12");
  await editor.getByRole("button", { name: "Remove the skill refunds" }).click();
  const config = await saved();
  expect(config).toMatchObject({ tool_search: { always: ["read_order"], k: 12 } });
  expect(config).not.toHaveProperty("skills");

  // The server refuses a number that is too large, at its field.
  await editor.getByLabel("Most tools that a search finds").fill("51");
  await bar.getByRole("button", { name: "Save", exact: true }).click();
  await editor.locator(".field-errors").waitFor();
  await editor.getByLabel("Search tools if there are more than 20").uncheck();
  expect(await saved()).not.toHaveProperty("tool_search");
  expect(complaints.filter((text) => !text.includes("422"))).toEqual([]);
  await stage.client.skills.delete("refunds");
});

testInBrowser("an agent with a stored key is moved, and the one before it removed", async () => {
  const team = await stage.client.teams.create({ component: swarm() });
  const { page, editor, bar, complaints } = await openEditor(team.id, "refunds");
  const save = async (): Promise<unknown> => {
    await bar.getByRole("button", { name: "Save", exact: true }).click();
    await bar.waitFor({ state: "detached" });
    const { participants } = (await team.get()).component.config as {
      participants: { config: { name: string; model_client: { config: { api_key?: string } } } }[];
    };
    return participants.map(({ config }) => [config.name, config.model_client.config.api_key]);
  };
  await editor.getByRole("button", { name: "Move earlier" }).click();
  await editor.getByText("Position 1 of 2").waitFor();
  expect(await save()).toEqual([
    ["refunds", "**********"],
    ["desk", undefined],
  ]);
  await editor.getByRole("button", { name: "Move later" }).click();
  await editor.getByText("Position 2 of 2").waitFor();
  await page.locator(".node", { hasText: "desk" }).click();
  const desk = page.getByRole("complementary", { name: "About desk" });
  await desk.getByRole("button", { name: "Remove agent" }).click();
  expect(await save()).toEqual([["refunds", "**********"]]);
  expect(complaints).toEqual([]);
});

testInBrowser("a mistake is shown at its field, and nothing is saved", async () => {
  const team = await stage.client.teams.create({ component: swarm() });
  const { page, editor, bar } = await openEditor(team.id, "refunds");
  await editor.getByLabel("Model", { exact: true }).fill("");
  await bar.getByRole("button", { name: "Save", exact: true }).click();
  await expect
    .poll(() => editor.getByLabel("Model", { exact: true }).getAttribute("aria-invalid"))
    .toBe("true");
  await editor.locator(".field-errors").waitFor();
  expect((await team.get()).component_version).toBe(1);
  await bar.getByRole("button", { name: "Discard" }).click();
  await bar.waitFor({ state: "detached" });
  expect(await editor.getByLabel("Model", { exact: true }).inputValue()).toBe("gpt-4o");
  expect(await findings(page)).toEqual([]);
});

testInBrowser(
  "a component that was replaced meanwhile is not overwritten without a question",
  async () => {
    const team = await stage.client.teams.create({ component: swarm() });
    const mine = await openEditor(team.id, "desk");
    const theirs = await openEditor(team.id, "desk");
    const save = async ({ editor, bar }: typeof mine, text: string): Promise<void> => {
      await editor.getByLabel("System message").fill(text);
      await bar.getByRole("button", { name: "Save", exact: true }).click();
    };
    await save(theirs, "You are theirs.");
    await theirs.bar.waitFor({ state: "detached" });
    await save(mine, "You are mine.");
    await mine.bar.getByText("you started from version 1, and version 2 is saved now").waitFor();
    expect(JSON.stringify((await team.get()).component)).toContain("You are theirs.");
    expect(await findings(mine.page)).toEqual([]);
    // The browser logs each refused request.
    await expect
      .poll(() => mine.complaints)
      .toEqual([expect.stringContaining("412 (Precondition Failed)")]);

    // The version saved elsewhere is shown, and nothing of what was typed here is lost.
    await mine.bar.getByRole("button", { name: "Load theirs" }).click();
    const message = mine.editor.getByLabel("System message");
    await expect.poll(() => message.inputValue()).toBe("You are theirs.");
    await mine.bar.waitFor({ state: "detached" });
    await mine.page.getByRole("button", { name: "Undo change" }).click();
    await expect.poll(() => message.inputValue()).toBe("You are mine.");

    // These are changes of theirs now, until theirs changes once more.
    await save(theirs, "You are theirs again.");
    await theirs.bar.waitFor({ state: "detached" });
    await mine.bar.getByRole("button", { name: "Save", exact: true }).click();
    await mine.bar.getByText("version 3 is saved now").waitFor();
    await save(theirs, "You are theirs for the third time.");
    await theirs.bar.waitFor({ state: "detached" });
    const over = mine.bar.getByRole("button", { name: "Save over theirs" });
    await over.click();
    await mine.bar.getByText("version 4 is saved now").waitFor();
    await over.click();
    await mine.bar.waitFor({ state: "detached" });
    const { component, component_version } = await team.get();
    expect(JSON.stringify(component)).toContain("You are mine.");
    expect(component_version).toBe(5);
  },
);

testInBrowser(
  "Ctrl+Z brings a draft back after another version was loaded, also from a text field",
  async () => {
    const team = await stage.client.teams.create({ component: swarm() });
    const { page, editor, bar } = await openEditor(team.id, "desk");
    const message = editor.getByLabel("System message");
    await message.fill("");
    await message.pressSequentially("You are mine.");
    const { component, component_version: version } = await team.get();
    const theirs = JSON.stringify(component).replace("You are the desk.", "You are theirs.");
    await team.replaceComponent(JSON.parse(theirs), { version });
    await bar.getByRole("button", { name: "Save", exact: true }).click();
    const load = bar.getByRole("button", { name: "Load theirs" });
    await load.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => message.inputValue()).toBe("You are theirs.");
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).not.toBe("BODY");
    await page.keyboard.press("Control+z");
    await expect.poll(() => message.inputValue()).toBe("You are mine.");
    await page.keyboard.press("Control+Shift+z");
    await expect.poll(() => message.inputValue()).toBe("You are theirs.");

    await message.focus();
    await page.keyboard.press("Control+z");
    await expect.poll(() => message.inputValue()).toBe("You are mine.");
    await page.keyboard.press("Control+Shift+z");
    await expect.poll(() => message.inputValue()).toBe("You are theirs.");
    // The browser undoes the typing after that.
    await page.keyboard.press("End");
    await page.keyboard.type(" Now.");
    await expect.poll(() => message.inputValue()).toBe("You are theirs. Now.");
    await page.keyboard.press("Control+z");
    await expect.poll(() => message.inputValue()).toMatch(/^You are theirs\.(?! Now\.)/);
  },
);

testInBrowser(
  "a team with an active run shows why it cannot be saved, and a fork runs with the changes",
  async () => {
    // It is written for half an hour.
    const team = await stage.client.teams.create({ component: swarm(10_000) });
    await team.start("Is it broken?");
    const { page, editor, bar } = await openEditor(team.id, "desk");
    await editor.getByLabel("System message").fill("You are brief.");
    await bar.getByText("A run is active.").waitFor();
    expect(await bar.getByRole("button", { name: "Save", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Cancel now" }).click();
    await new TeamOnPage(page).status("Cancelled");
    await bar.getByRole("button", { name: "Try in a fork" }).click();
    const dialog = page.getByRole("dialog", { name: "Try in a fork" });
    await expect
      .poll(() => dialog.getByLabel(/^The fork continues/).inputValue())
      .toBe("Is it broken?");
    await dialog.getByRole("button", { name: "Fork and run" }).click();
    await page.waitForURL(/\/compare\?a=/);
    const forked = new URL(page.url()).searchParams.get("b") ?? "";
    const { component, forked_from } = await stage.client.team(forked).get();
    expect(forked_from?.team_id).toBe(team.id);
    expect(JSON.stringify(component)).toContain("You are brief.");
    expect(JSON.stringify((await team.get()).component)).not.toContain("You are brief.");
    await stage.client.team(forked).delete();
  },
);

testAppearances("axe finds nothing in the editor", async (context) => {
  const team = await stage.client.teams.create({ component: swarm() });
  const { page, editor } = await openEditor(team.id, "refunds", context);
  await editor.getByLabel("Add a tool").selectOption({ label: "HTTP tool" });
  await editor.getByLabel("Search tools if there are more than 20").check();
  await editor.getByLabel("Always offer", { exact: true }).fill("read_order");
  await editor.getByLabel("Always offer", { exact: true }).press("Enter");
  await editor.getByLabel("Add a skill").fill("refunds");
  await editor.getByLabel("Add a skill").press("Enter");
  await editor.getByText("More model settings").click();
  await editor.getByLabel(/^Base url/i).waitFor();
  expect(await findings(page)).toEqual([]);
});
