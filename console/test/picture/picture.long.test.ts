import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import {
  dumpComponent,
  MagenticOneGroupChat,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
  SocietyOfMindAgent,
} from "troupe";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { ledger } from "../../../test/core/support/ledger.ts";
import { findings, testAppearances } from "../support/accessible.ts";
import { saying } from "../support/components.ts";
import { ConsoleStage, type Tab, TeamOnPage } from "../support/stage.ts";

let stage: ConsoleStage;
beforeAll(async () => {
  if (HAS_BROWSER) stage = await ConsoleStage.start();
});
afterAll(() => stage?.[Symbol.asyncDispose]());

/** Opens the picture of a new team. */
async function pictureOf(template: string): Promise<Tab> {
  const team = await stage.client.teams.create({ template, metadata: { template } });
  return stage.open(`/teams/${team.id}?view=picture`);
}

/** The edges in words, as a screen reader tells them. */
async function ways(page: Page): Promise<string[]> {
  const words = page.locator(".in-words");
  await words.evaluate((element) => element.setAttribute("open", ""));
  return page.getByRole("list", { name: "Edges" }).getByRole("listitem").allTextContents();
}

const REVIEWED = [
  "Task → writer, taken once",
  "writer → reviewer, taken 3 times",
  "reviewer → writer if the message contains REVISE, taken 2 times",
  "reviewer → grammar if the message contains APPROVED, taken once",
  "reviewer → facts if the message contains APPROVED, taken once",
  "grammar → editor, taken once",
  "facts → editor, taken once",
];

/** The answers of the agents of the template `review_loop`, by their instructions and what they have read. */
const SAID = [
  { name: "draft 3", match: { system: "Writes", any: "Draft 2" }, content: "Draft 3" },
  { name: "draft 2", match: { system: "Writes", any: "Draft 1" }, content: "Draft 2" },
  { name: "draft 1", match: { system: "Writes" }, content: "Draft 1" },
  { name: "review 3", match: { system: "Says", any: "Draft 3" }, content: "APPROVED" },
  { name: "review 2", match: { system: "Says", any: "Draft 2" }, content: "REVISE once more" },
  { name: "review 1", match: { system: "Says" }, content: "REVISE" },
  { name: "grammar", match: { system: "Checks the language" }, content: "No mistakes." },
  { name: "facts", match: { system: "Checks what" }, content: "All of it is so." },
  { name: "edition", match: { system: "Publishes" }, content: "Published." },
];

testInBrowser(
  "the picture of a graph lights up, counts its ways, and does so after a reload",
  async () => {
    await using models = await startFakeOpenAI({
      rules: SAID.map(({ name, match, content }) => ({
        name,
        match,
        hold: true,
        reply: { content },
      })),
    });
    const template = "review_loop";
    const team = await stage.client.teams.create({ template, metadata: { template } });
    const { component } = await team.get();
    for (const { config } of component.config["participants"] as { config: object }[]) {
      const model = { model: "gpt-4o", base_url: models.url, api_key: "test" };
      const model_client = { provider: "OpenAIChatCompletionClient", config: model };
      Object.assign(config, { model_client });
    }
    await team.replaceComponent(component);
    const { page, complaints } = await stage.open(`/teams/${team.id}?view=picture`);
    const node = (name: string) => page.locator(".node", { hasText: name });
    await page.getByRole("button", { name: "Try this task" }).click();
    for (const turn of [
      { writer: "draft 1" },
      { reviewer: "review 1" },
      { writer: "draft 2" },
      { reviewer: "review 2" },
      { writer: "draft 3" },
      { reviewer: "review 3" },
      { grammar: "grammar", facts: "facts" },
      { editor: "edition" },
    ]) {
      for (const name of Object.keys(turn)) {
        await node(name).and(page.locator('[data-state="running"]')).waitFor();
      }
      for (const rule of Object.values(turn)) models.release(rule);
    }
    await new TeamOnPage(page).status("Completed");
    await expect.poll(() => page.locator('[data-state="running"]').count()).toBe(0);
    await expect.poll(() => ways(page)).toEqual(REVIEWED);
    await page.reload();
    await node("editor").locator(".spoken").waitFor();
    await expect.poll(() => ways(page)).toEqual(REVIEWED);
    await expect.poll(() => page.locator('.way[data-taken="true"]').count()).toBe(REVIEWED.length);
    expect(complaints).toEqual([]);
  },
);

testInBrowser("only the last run is counted", async () => {
  const { page } = await pictureOf("review_loop");
  const created = stage.client.team(new URL(page.url()).pathname.split("/").at(-1) ?? "");
  const team = new TeamOnPage(page);
  const ended: string[] = [];
  for (const task of ["First.", "Second."]) {
    await team.send(task);
    ended.push("completed");
    await expect
      .poll(async () => (await created.runs()).runs.map(({ status }) => status))
      .toEqual(ended);
  }
  await expect.poll(() => ways(page)).toEqual(REVIEWED);
});

const PICTURES: Record<string, string[]> = {
  support_swarm: [
    "Task → desk, taken once",
    "desk → orders, taken once",
    "desk → refunds",
    "orders → desk",
    "orders → refunds, taken once",
    "refunds → desk, taken once",
  ],
  editorial_team: [
    "selector → writer, taken 2 times",
    "selector → critic, taken 2 times",
    "selector → editor, taken once",
  ],
  writer_critic: ["writer → critic, taken 3 times", "critic → writer, taken 2 times"],
  magentic_research: [
    "orchestrator → researcher, taken once",
    "orchestrator → analyst, taken 2 times",
  ],
};

for (const [template, edges] of Object.entries(PICTURES)) {
  testInBrowser(`the template ${template} has its picture`, async () => {
    const { page, complaints } = await pictureOf(template);
    await page.getByRole("button", { name: "Try this task" }).click();
    await new TeamOnPage(page).status("Completed");
    await expect.poll(() => ways(page)).toEqual(edges);
    if (template === "magentic_research") {
      const task = page.getByRole("region", { name: "Task ledger" });
      await task.getByText("Train for two in a compartment").waitFor();
      await task.getByText("Compare again").or(task.getByText("compare again")).waitFor();
      const progress = page.getByRole("region", { name: "Progress ledger" });
      await expect.poll(() => progress.textContent()).toContain("Rounds5");
      // Each round can be looked at with its reasons, also after the end.
      const steps = page.getByRole("group", { name: "Rounds of the ledgers" });
      const place = (): Promise<string> => steps.locator("[aria-live]").innerText();
      await expect.poll(place).toMatch(/^Entry (\d+) of \1, the latest$/);
      expect(Number(/\d+/.exec(await place())?.[0])).toBeGreaterThan(5);
      await progress.getByText("Is the request satisfied?").waitFor();
      const answers = progress.locator(".ledger-answers");
      const last = await answers.innerText();
      await steps.getByRole("button", { name: "Earlier round" }).click();
      await expect.poll(() => progress.textContent()).toContain("Rounds4");
      await expect.poll(() => answers.innerText()).not.toBe(last);
      await steps.getByRole("button", { name: "Later round" }).click();
      await expect.poll(() => progress.textContent()).toContain("Rounds5");
    }
    expect(complaints).toEqual([]);
  });
}

testInBrowser("an agent that waits for a human is marked", async () => {
  const { page } = await pictureOf("approval_desk");
  await page.getByRole("button", { name: "Try this task" }).click();
  await page.locator('.node[data-state="waiting"]', { hasText: "clerk" }).waitFor();
  await page.getByRole("button", { name: /^clerk/ }).click();
  await page
    .getByRole("complementary", { name: "About clerk" })
    .getByRole("button", { name: "Remove refund_order" })
    .waitFor();
});

for (const colorScheme of ["light", "dark"] as const) {
  testInBrowser(
    `the ledgers of teams inside participants are stepped through (${colorScheme})`,
    async () => {
      const crew = (name: string): MagenticOneGroupChat =>
        new MagenticOneGroupChat([saying(["Very."], 0, "ann")], {
          name,
          modelClient: new ReplayChatCompletionClient([
            `Facts of ${name}.`,
            "Ask Ann.",
            ledger({ speaker: "ann", say: "How deep is it?", reason: "Nobody was asked yet." }),
            ledger({ satisfied: true, reason: "Ann knows." }),
            "Eleven kilometres.",
          ]),
        });
      const mind = new SocietyOfMindAgent({
        name: "mind",
        team: crew("thinkers"),
        modelClient: new ReplayChatCompletionClient(["It is deep."]),
      });
      const outer = new RoundRobinGroupChat([crew("divers"), mind], { maxTurns: 2 });
      const team = await stage.client.teams.create({
        component: dumpComponent(outer),
        label: "Ocean",
      });
      await team.run("How deep is the sea?").result();
      const { page, complaints } = await stage.open(`/teams/${team.id}?view=picture`, {
        colorScheme,
      });
      const steps = page.getByRole("group", { name: "Rounds of the ledgers" });
      const task = page.getByRole("region", { name: "Task ledger" });
      const progress = page.getByRole("region", { name: "Progress ledger" });
      for (const [participant, name, turn] of [
        ["divers", "divers", 2],
        ["mind", "thinkers", 3],
      ] as const) {
        await page.getByRole("button", { name: new RegExp(`^${participant}`) }).click();
        await expect.poll(() => steps.count()).toBe(0);
        await page.getByRole("button", { name: "Show its team" }).click();
        await steps.getByText("Entry 3 of 3, the latest").waitFor();
        await task.getByText(`Facts of ${name}.`).waitFor();
        await progress.getByText("Ann knows.").first().waitFor();
        await steps.getByRole("button", { name: "Earlier round" }).click();
        await steps.getByText("Entry 2 of 3").waitFor();
        await progress.getByText("Nobody was asked yet.").first().waitFor();
        await steps.getByRole("link", { name: `turn ${turn}` }).waitFor();
        expect(await findings(page)).toEqual([]);
        const trail = page.getByRole("navigation", { name: "Teams around this one" });
        await trail.getByRole("button", { name: "Ocean" }).click();
      }
      expect(complaints).toEqual([]);
    },
  );
}

testInBrowser("a team inside a participant is opened and counted", async () => {
  const inner = new RoundRobinGroupChat([saying(["Yes."], 0, "pro"), saying(["No."], 0, "con")], {
    terminationCondition: new MaxMessageTermination(4),
  });
  const modelClient = new ReplayChatCompletionClient(["Perhaps."], { cycle: true });
  const mind = new SocietyOfMindAgent({ name: "mind", team: inner, modelClient });
  const outer = new RoundRobinGroupChat([mind, saying(["Thanks."], 0, "host")], {
    terminationCondition: new MaxMessageTermination(3),
  });
  const team = await stage.client.teams.create({ component: dumpComponent(outer), label: "Outer" });
  await team.run("Is it?").result();
  const { page } = await stage.open(`/teams/${team.id}?view=picture`);
  await page.getByRole("button", { name: /^mind/ }).click();
  await page.getByRole("button", { name: "Show its team" }).click();
  await page.getByRole("button", { name: /^pro/ }).waitFor();
  await expect.poll(async () => (await ways(page))[0]).toMatch(/^pro → con, taken/);
  const trail = page.getByRole("navigation", { name: "Teams around this one" });
  await trail.getByRole("button", { name: "Outer" }).click();
  await page.getByRole("button", { name: /^host/ }).waitFor();
});

/** Shows the picture of a component that the server would not have taken. */
async function shown(component: object): Promise<Tab> {
  const team = await stage.client.teams.create({ template: "writer_critic" });
  const info = await team.get();
  const tab = await stage.open("/");
  await tab.page.route(`**/v1/teams/${team.id}`, (route) =>
    route.fulfill({ json: { ...info, component } }),
  );
  await tab.page.goto(`${stage.origin}/teams/${team.id}?view=picture`);
  return tab;
}

const agent = (name: string) => ({
  provider: "x.Agent",
  component_type: "agent",
  config: { name },
});

/** A graph whose nodes follow each other, with a way back from each. */
function chain(length: number): object {
  const names = Array.from({ length }, (_, index) => `agent_${index}`);
  const nodes = names.map((name, index) => [
    name,
    {
      name,
      edges: [
        { target: names[index + 1], condition: "ON" },
        { target: names[index - 7], condition: "BACK" },
      ].filter(({ target }) => target !== undefined),
    },
  ]);
  return {
    provider: "autogen_agentchat.teams.GraphFlow",
    component_type: "team",
    config: { participants: names.map(agent), graph: { nodes: Object.fromEntries(nodes) } },
  };
}

testInBrowser("a picture shows 100 nodes, and refuses 1,000 with a sentence", async () => {
  const { page } = await shown(chain(100));
  await page.getByRole("button", { name: /^agent_99/ }).waitFor();
  await expect.poll(() => page.locator(".node").count()).toBe(101);
  await page.context().close();
  const { page: large } = await shown(chain(1_000));
  await large.getByText("This team has 1,001 participants").waitFor();
  await expect.poll(() => large.locator(".node").count()).toBe(0);
});

testInBrowser("components of unknown classes have nodes, and names stay names", async () => {
  const name = "admin\u202Enimda\u200B";
  const { page, complaints } = await shown({
    provider: "my.<b>Team</b>",
    config: { participants: [agent(name), agent('"><img src=x onerror=alert(1)>'), 7, null, {}] },
  });
  await page.getByRole("button", { name: /^admin\uFFFDnimda\uFFFD/ }).waitFor();
  await expect.poll(() => page.locator(".node").count()).toBe(5);
  expect(await page.locator(".picture-panel img, .picture-panel script").count()).toBe(0);
  expect(complaints).toEqual([]);
});

testInBrowser(
  "the picture is moved and zoomed by keys, wheel and dragging, and fits again",
  async () => {
    const { page } = await pictureOf("review_loop");
    const frame = page.getByRole("group", { name: /^Picture of the team/ });
    const transform = (): Promise<string> =>
      page.locator(".drawing-content").evaluate((element) => element.getAttribute("style") ?? "");
    await page.getByRole("button", { name: /^editor/ }).waitFor();
    const fitted = await transform();
    const changed = async (): Promise<void> => {
      await expect.poll(transform).not.toBe(fitted);
      await frame.press("0");
      await expect.poll(transform).toBe(fitted);
    };
    for (const key of ["+", "-", "ArrowLeft", "ArrowDown"]) {
      await frame.press(key);
      await changed();
    }
    const box = await frame.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 20, (box?.y ?? 0) + 20);
    await page.mouse.wheel(0, -200);
    await changed();
    await page.mouse.down();
    await page.mouse.move((box?.x ?? 0) + 90, (box?.y ?? 0) + 60);
    await page.mouse.up();
    await changed();
    await page.getByRole("button", { name: "Zoom in" }).click();
    await changed();
    const before = await transform();
    await page.setViewportSize({ width: 900, height: 500 });
    await expect.poll(transform).not.toBe(before);
  },
);

testInBrowser("two fingers that move apart enlarge the picture", async () => {
  const team = await stage.client.teams.create({ template: "review_loop" });
  const { page } = await stage.open(`/teams/${team.id}?view=picture`, {
    hasTouch: true,
    viewport: { width: 360, height: 740 },
  });
  await page.getByRole("button", { name: /^editor/ }).waitFor();
  const scale = (): Promise<number> =>
    page
      .locator(".drawing-content")
      .evaluate((element) =>
        Number(/scale\((.*?)\)/.exec(element.getAttribute("style") ?? "")?.[1]),
      );
  const fitted = await scale();
  const box = await page.getByRole("group", { name: /^Picture of the team/ }).boundingBox();
  const [x, y] = [(box?.x ?? 0) + 150, (box?.y ?? 0) + 15];
  const fingers = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", apart?: number) =>
    fingers.send("Input.dispatchTouchEvent", {
      type,
      touchPoints:
        apart === undefined ? [] : [-apart, apart].map((dx, id) => ({ x: x + dx, y, id })),
    });
  await touch("touchStart", 20);
  for (const apart of [40, 60, 80]) await touch("touchMove", apart);
  await touch("touchEnd");
  await expect.poll(scale).toBeGreaterThan(fitted * 2);
});

testAppearances("axe finds nothing in pictures", async (context) => {
  const team = await stage.client.teams.create({ template: "magentic_research" });
  await team.run("Train or plane?").result();
  const { page } = await stage.open(`/teams/${team.id}?view=picture`, context);
  await page.getByText("Train for two in a compartment").first().waitFor({ state: "attached" });
  await page.getByRole("button", { name: /^analyst/ }).click();
  await page.getByRole("complementary", { name: "About analyst" }).getByLabel("Server").waitFor();
  await ways(page);
  expect(await findings(page)).toEqual([]);
});

testInBrowser("the picture is saved as SVG and as PNG", async () => {
  const team = await stage.client.teams.create({ template: "writer_critic" });
  const { page, complaints } = await stage.open(`/teams/${team.id}?view=picture`);
  const save = async (format: string): Promise<Buffer> => {
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: format, exact: true }).click();
    return readFileSync(await (await downloading).path());
  };
  const svg = (await save("SVG")).toString("utf8");
  expect(svg).toMatch(/^<svg xmlns[\s\S]*>writer<\/text>[\s\S]*<\/svg>\s*$/);
  const png = await save("PNG");
  expect(png.subarray(1, 4).toString("latin1")).toBe("PNG");
  expect(complaints).toEqual([]);
});
