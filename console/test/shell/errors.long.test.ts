import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { speaker } from "../support/components.ts";
import { ConsoleStage, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

testInBrowser("a failed run states its error once, with what to do", async () => {
  const failing = await stage.client.teams.create({ component: speaker([]) });
  const run = await failing.start("Greet me.");
  const { page } = await stage.open(`/teams/${failing.id}`);
  await new TeamOnPage(page).status("Failed");
  const reason = page.getByText("The replay client of speaker has no answer left");
  await reason.waitFor();
  await page.getByText("Add answers to its replay client, or choose another model.").waitFor();
  expect(await reason.count()).toBe(1);
  await page.goto(`${stage.origin}/teams/${failing.id}/runs/${run.id}`);
  await reason.waitFor();
  expect(await reason.count()).toBe(1);
});

testInBrowser("a refused model key names the agent and leads to the field of the key", async () => {
  await using models = await startFakeOpenAI({
    rules: [{ name: "refused", fault: { kind: "status", status: 401, message: "Wrong key." } }],
  });
  const team = await stage.client.teams.create({
    component: {
      provider: "autogen_agentchat.agents.AssistantAgent",
      config: {
        name: "writer",
        model_client: {
          provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
          config: { model: "gpt-4o", base_url: models.url, api_key: "wrong" },
        },
      },
    },
  });
  await team.start("Count.");
  const { page } = await stage.open(`/teams/${team.id}`);
  await new TeamOnPage(page).status("Failed");
  await page.getByRole("link", { name: "Change the key of writer" }).click();
  const focused = "document.activeElement?.labels?.[0]?.textContent ?? ''";
  await expect.poll(() => page.evaluate(focused)).toMatch(/^api key/i);
});

testInBrowser("a server without a sandbox says what the operator has to set", async () => {
  const team = await stage.client.teams.create({ component: speaker([]) });
  const { page } = await stage.open(`/teams/${team.id}/files`);
  await page.getByRole("heading", { name: "This server has no sandbox" }).waitFor();
  await page.getByText("Ask the operator to set SANDBOX_URL.").waitFor();
});

testInBrowser("a lost connection is stated without an address of the API", async () => {
  const team = await stage.client.teams.create({ component: speaker(["Hello."]) });
  const { page } = await stage.open(`/teams/${team.id}`);
  const shown = new TeamOnPage(page);
  await shown.status("Idle");
  await page.route("**/v1/teams/*/runs", (route) => route.abort());
  await shown.send("Greet me.");
  const alert = page.getByRole("alert");
  await expect
    .poll(() => alert.allTextContents())
    .toEqual(["The server can't be reached. Check your connection."]);
  expect(await shown.composer.inputValue()).toBe("Greet me.");
});
