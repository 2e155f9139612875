import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../../../test/support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../test/support/fake-openai/server.ts";
import { Sandbox } from "../../../test/support/sandbox.ts";
import { careful, speaker } from "../support/components.ts";
import { keyOf } from "../support/keys.ts";
import { ConsoleStage } from "../support/stage.ts";

const OWNER = "a-key-that-does-all";
const READER = "a-key-that-reads";
const ANSWERER = "a-key-that-answers";

let sandbox: Sandbox;
let models: FakeOpenAI;
let stage: ConsoleStage;
let owner: TroupeClient;
beforeAll(async () => {
  if (!HAS_BROWSER) return;
  sandbox = await Sandbox.start();
  models = await startFakeOpenAI({
    rules: [{ name: "refused", fault: { kind: "status", status: 401, message: "Wrong key." } }],
  });
  const keys = [
    keyOf(OWNER, ["teams:read", "teams:write", "runs:read", "runs:write", "requests:write"]),
    keyOf(READER, ["teams:read", "runs:read"]),
    keyOf(ANSWERER, ["requests:write"]),
  ];
  stage = await ConsoleStage.start({
    TROUPE_OPEN: "",
    API_KEYS: JSON.stringify(keys),
    ALLOWED_EGRESS: `${sandbox.url},${models.origin}`,
    WEBHOOK_HOSTS: "*",
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
  });
  owner = new TroupeClient({ baseURL: stage.origin, token: OWNER });
});
afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
  await sandbox?.[Symbol.asyncDispose]();
});

async function enter(path: string, key: string): Promise<Page> {
  const { page } = await stage.open(path);
  await page.getByLabel("Key or token").fill(key);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  return page;
}

const CHANGES =
  /^(Send|Fork(?!s of the playground)|New|Edit|Delete|Retry|Reset|Restore|Upload|Save|Approve|Refuse|Answer|Share|Label|Try|Pause|Resume|Stop|Cancel|Keep running|Rotate|Test|Run now|Log in|Connect$|Add|Team settings|Playground|Change|Give|Interrupt|Convert)/;

/** A field of the page, which has other types than this program. */
interface Labelled {
  labels?: ArrayLike<{ textContent: string }>;
}

/** The names of the controls of the page that change something, with those in closed menus. */
async function changing(page: Page): Promise<string[]> {
  const names = await page
    .locator("main :is(button, summary, a, textarea, input, select, [role=button])")
    .evaluateAll((all) =>
      all.map((one) =>
        (
          one.getAttribute("aria-label") ??
          (one as Labelled).labels?.[0]?.textContent ??
          one.textContent
        ).trim(),
      ),
    );
  return names.filter((name) => CHANGES.test(name));
}

/** A team whose run failed, with an earlier version, a file and a schedule. */
async function failedTeam(): Promise<{ id: string; run: string }> {
  const model_client = {
    provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
    config: { model: "gpt-4o", base_url: models.url, api_key: "wrong" },
  };
  const provider = "autogen_agentchat.agents.AssistantAgent";
  const team = await owner.teams.create({
    component: { provider, config: { name: "writer", model_client: { ...model_client } } },
  });
  const changed = { name: "writer", description: "It writes.", model_client };
  await team.replaceComponent({ provider, config: changed }, { version: 1 });
  await team.writeFile("notes.txt", "Some notes.");
  await team.createSchedule({ cron: "0 8 * * 1-5", task: "Report." });
  const run = await team.start("Count.");
  await expect.poll(async () => (await team.getRun(run.id)).status).toBe("failed");
  return { id: team.id, run: run.id };
}

testInBrowser(
  "a key that may only read sees no control that changes something, on any page",
  async () => {
    const failed = await failedTeam();
    const talk = await owner.teams.create({ component: speaker(["Hello."]) });
    await talk.run("Greet me.").result();
    const clerk = await owner.teams.create({ component: careful() });
    await clerk.start("Calculate.");
    await owner.webhooks.put("hook", { url: `${models.origin}/hook`, events: ["run.waiting"] });
    await owner.memories.add({ scope: "tenant", content: "The office is in Graz." });
    await owner.collections.put("guides", { description: "For staff." });
    const guide = { content: "Be kind.", type: "text/markdown" };
    await owner.collections.putDocument("guides", "guide.md", guide);

    const team = `/teams/${failed.id}`;
    // An element of each page that is there once it is loaded.
    const pages: readonly (readonly [path: string, shown: string])[] = [
      ["/", "main h2"],
      ["/teams", `main a[href="${team}"]`],
      [team, ".failed-because"],
      [`/teams/${talk.id}`, "article"],
      [`/teams/${clerk.id}`, ".dock-card"],
      [`${team}?view=picture`, ".node"],
      [`${team}/files`, ".files-table"],
      [`${team}/schedules`, ".item"],
      [`${team}/runs`, "main table a"],
      [`${team}/versions`, ".version:nth-child(2)"],
      [`${team}/api`, "pre"],
      [`${team}/runs/${failed.run}`, ".timeline-row"],
      ["/inbox", ".card"],
      ["/runs", "main table a"],
      ["/memory", ".item"],
      ["/memory/collections", ".item"],
      ["/memory/collections/guides", ".documents-table"],
      ["/webhooks", ".item"],
      ["/webhooks/hook", "h1"],
      ["/connections", "h1"],
      ["/new-team", ".empty h1"],
      [`${team}/playground`, ".empty h1"],
      ["/usage", ".empty h1"],
      ["/keys", ".empty h1"],
    ];
    const page = await enter("/", READER);
    const found: Record<string, string[]> = {};
    for (const [path, shown] of pages) {
      await page.goto(stage.origin + path);
      await page.locator(shown).first().waitFor();
      await page.locator("main .loading").waitFor({ state: "detached" });
      const names = await changing(page);
      if (names.length > 0) found[path] = names;
    }
    expect(found).toEqual({});
    await page.goto(`${stage.origin}${team}?view=picture`);
    await page.locator(".node", { hasText: "writer" }).click();
    await page.locator(".node-details").waitFor();
    expect(await changing(page)).toEqual([]);
  },
);

testInBrowser("a key for answers alone begins in the inbox and answers there", async () => {
  const clerk = await owner.teams.create({ component: careful(), label: "Answered alone" });
  const run = await clerk.start("Calculate.");
  const page = await enter("/", ANSWERER);
  await page.getByRole("heading", { name: "Inbox" }).waitFor();
  const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
  expect((await links.allTextContents()).map((name) => name.trim())).toEqual([
    expect.stringMatching(/^Inbox/),
  ]);
  const card = page.locator(".card", { hasText: "Answered alone" });
  await card.getByRole("button", { name: "Approve", exact: true }).click();
  await expect
    .poll(async () => (await clerk.getRun(run.id)).status, { timeout: 60_000 })
    .not.toBe("waiting");
});
