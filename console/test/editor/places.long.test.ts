import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { fieldAddress, keyPath } from "../../component/field-address.ts";
import { ConsoleStage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

const hosted = {
  provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  component_type: "model",
  config: { model: "gpt-4o", api_key: "sk-kept", base_url: "http://127.0.0.1:9/v1" },
};
const agent = (name: string) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  component_type: "agent",
  config: { name, description: `The ${name}.`, model_client: hosted, handoffs: [] },
});
const team = (...names: string[]) => ({
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  component_type: "team",
  config: { participants: names.map(agent), max_turns: 2 },
});
/** A team of which one agent is a team itself. */
const nested = {
  ...team("desk"),
  config: {
    max_turns: 2,
    participants: [
      agent("desk"),
      {
        provider: "autogen_agentchat.agents.SocietyOfMindAgent",
        component_type: "agent",
        config: { name: "office", team: team("clerk"), model_client: hosted },
      },
    ],
  },
};

/** The label of the field that has the focus. */
async function focused(page: Page): Promise<string> {
  return String(await page.evaluate("document.activeElement?.labels?.[0]?.textContent ?? ''"));
}

async function isInView(field: Locator): Promise<boolean> {
  return field.evaluate((element) => {
    const { left, top, width } = element.getBoundingClientRect();
    const { document: page } = globalThis as unknown as {
      document: {
        elementFromPoint: (x: number, y: number) => Parameters<typeof element.contains>[0];
      };
    };
    const there = page.elementFromPoint(left + Math.min(width / 2, 20), top + 8);
    return element.contains(there);
  });
}

testInBrowser(
  "an address leads to the field of a key, also in a team inside of a team",
  async () => {
    const { id } = await stage.client.teams.create({ component: nested });
    for (const name of ["desk", "office", "clerk"]) {
      const { page, complaints } = await stage.open(fieldAddress(id, keyPath(nested, name) ?? []));
      const form = page.getByRole("complementary", { name: `About ${name}` });
      await form.getByLabel("API key").waitFor();
      await expect.poll(() => focused(page)).toMatch(/^API key/);
      expect(await form.getByLabel("API key").inputValue()).toBe("**********");
      expect(complaints).toEqual([]);
    }
    expect(keyPath(nested, "nobody")).toBeUndefined();
  },
);

for (const [name, context] of [
  ["at 200 %", { viewport: { width: 720, height: 450 }, deviceScaleFactor: 2 }],
  ["on a phone", { viewport: { width: 390, height: 844 } }],
] as const) {
  testInBrowser(`a click on an agent brings its form into view ${name}`, async () => {
    const { id } = await stage.client.teams.create({ component: team("desk", "refunds") });
    const { page } = await stage.open(`/teams/${id}?view=picture`, context);
    for (const agentName of ["refunds", "desk"]) {
      await page.locator(".node", { hasText: agentName }).click();
      const form = page.getByRole("complementary", { name: `About ${agentName}` });
      await form.getByLabel("Name", { exact: true }).waitFor();
      await expect.poll(() => isInView(form.getByRole("heading"))).toBe(true);
      await expect.poll(() => isInView(form.getByLabel("Name", { exact: true }))).toBe(true);
      await form.getByRole("button", { name: "Close" }).click();
    }
  });
}
