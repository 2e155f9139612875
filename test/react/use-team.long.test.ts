import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { type TeamClient, TroupeClient } from "troupe/client";
import { SENTENCE } from "../client/support/speaker.ts";
import { HAS_BROWSER, testInBrowser } from "../support/browser.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import type { TestWorker } from "../support/worker.ts";
import { HUMAN, KEY, SPEAKER, startServer } from "./support/server.ts";
import { Chat, type Shown, Stage } from "./support/stage.ts";

/** After how many words the reply to "Speak slowly." waits. */
const HELD = [10, 20, 30, 40, 50, 60] as const;

let stage: Stage;
let fake: FakeOpenAI;
let worker: TestWorker;
let client: TroupeClient;
let baseURL: string;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  fake = await startFakeOpenAI({
    rules: [
      { name: "refuse", match: { text: "Fail." }, fault: { kind: "status", status: 400 } },
      {
        name: "slow",
        match: { text: "Speak slowly." },
        // The first piece has no word.
        hold_after: HELD.map((words) => words + 1),
        reply: { content: SENTENCE },
      },
      { name: "speak", reply: { content: SENTENCE } },
    ],
  });
  stage = await Stage.start();
  worker = await startServer(stage.origin, fake.origin);
  baseURL = await worker.origin;
  client = new TroupeClient({ baseURL, token: KEY });
});

beforeEach(() => fake?.rules.hold("slow"));

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await worker?.[Symbol.asyncDispose]();
  await fake?.close();
});

/** Makes a team and shows it. */
async function shown(
  component: object,
  options: { strict?: boolean; pageSize?: number; copies?: number } = {},
): Promise<Shown & { team: TeamClient; chat: Chat }> {
  const { copies = 1, ...others } = options;
  const team = await client.teams.create({ component: component as typeof SPEAKER });
  const teams = Array<string>(copies).fill(team.id);
  const view = await stage.show({ baseURL, token: KEY, teams, ...others });
  const chat = new Chat(view.page, team.id);
  await chat.status("idle");
  return { ...view, team, chat };
}

/** What the reply has after that many words. */
const beginning = (words: number): string => SENTENCE.split(" ").slice(0, words).join(" ");

const streams = (requests: readonly string[]): string[] =>
  requests.filter((request) => request.includes("/events"));

testInBrowser("a task is sent, its reply grows, and ends as a message", async () => {
  const { chat, team, complaints } = await shown(SPEAKER);
  await chat.send("Speak slowly.");
  await expect.poll(() => chat.writing.textContent()).toBe(beginning(HELD[0]));
  fake.release("slow");
  await chat.status("completed");
  await expect.poll(() => chat.messages.allTextContents()).toEqual(["Speak slowly.", SENTENCE]);
  await expect.poll(() => chat.writing.count()).toBe(0);
  expect(complaints).toEqual([]);
  expect((await team.runs()).runs).toHaveLength(1);
});

testInBrowser("a piece of text renders no message again", async () => {
  const { chat, page } = await shown(SPEAKER);
  await chat.send("Speak slowly.");
  for (const words of HELD) {
    await expect.poll(() => chat.writing.textContent()).toBe(beginning(words));
    fake.release("slow");
    fake.rules.hold("slow");
  }
  await chat.status("completed");
  const { chat: renderings, message } = await page.evaluate(
    () => (globalThis as unknown as { renderings: Record<string, number> }).renderings,
  );
  expect(message).toBe(2);
  // The text was shown while it grew.
  expect(renderings).toBeGreaterThan(5);
});

testInBrowser("StrictMode opens one connection and sends once", async () => {
  const { chat, team, requests, complaints } = await shown(SPEAKER, { strict: true });
  await chat.send("Speak.");
  await chat.status("completed");
  expect(streams(requests)).toEqual([`GET /v1/teams/${team.id}/events?after=0`]);
  expect(requests.filter((request) => request.startsWith("POST"))).toHaveLength(1);
  expect((await team.runs()).runs).toHaveLength(1);
  expect(complaints).toEqual([]);
});

testInBrowser("two components on one team share a connection", async () => {
  const { page, chat, team, requests } = await shown(SPEAKER, { copies: 2 });
  const second = new Chat(page, team.id, 1);
  await chat.send("Speak.");
  await second.status("completed");
  await expect.poll(() => second.messages.allTextContents()).toEqual(["Speak.", SENTENCE]);
  expect(streams(requests)).toHaveLength(1);
});

testInBrowser("a question is answered", async () => {
  const { chat, team } = await shown(HUMAN);
  await chat.send("Ask me.");
  await chat.status("waiting");
  await chat.press("Yes");
  await chat.status("completed");
  await expect.poll(() => chat.messages.last().textContent()).toBe("Yes.");
  await expect.poll(() => chat.section.locator("fieldset").count()).toBe(0);
  expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
});

testInBrowser("a run is stopped, and its text is gone", async () => {
  const { chat } = await shown(SPEAKER);
  await chat.send("Speak slowly.");
  await chat.writing.waitFor();
  await chat.press("Stop");
  await chat.status("cancelled");
  await expect.poll(() => chat.writing.count()).toBe(0);
  await chat.send("Speak.");
  await chat.status("completed");
});

testInBrowser("a waiting run is paused, resumed and stopped", async () => {
  const { chat } = await shown(HUMAN);
  await chat.send("Ask me.");
  await chat.status("waiting");
  await chat.press("Pause");
  await chat.status("paused");
  await chat.press("Resume");
  await chat.status("waiting");
  await chat.press("Stop");
  await chat.status("cancelled");
});

testInBrowser("a failed run shows its code, and is retried", async () => {
  const { chat, team } = await shown(SPEAKER);
  await chat.send("Fail.");
  await chat.status("failed");
  const [failed] = (await team.runs()).runs;
  await expect
    .poll(() => chat.section.locator("[data-error]").textContent())
    .toBe(failed?.error?.type);
  await chat.press("Retry");
  await expect.poll(async () => (await team.runs()).runs.length).toBe(2);
  await chat.status("failed");
});

testInBrowser("a refusal of an action has its code", async () => {
  const { chat } = await shown(HUMAN);
  await chat.send("Ask me.");
  await chat.status("waiting");
  await chat.send("And again.");
  const refusal = chat.section.locator("[data-refusal]");
  await refusal.waitFor();
  await expect.poll(() => refusal.textContent()).toBe("team_busy");
  await chat.status("waiting");
});

testInBrowser("runs that began elsewhere and queued runs appear", async () => {
  const { chat, team } = await shown(HUMAN);
  await team.start("From elsewhere.");
  await chat.status("waiting");
  await expect.poll(() => chat.messages.first().textContent()).toBe("From elsewhere.");
  const queued = await team.start("Later.", { on_conflict: "queue" });
  await chat.section.locator("[data-queued]").waitFor();
  await expect
    .poll(() => chat.section.locator("[data-queued]").allTextContents())
    .toEqual([queued.id]);
  await chat.press("Yes");
  await chat.section.locator("[data-queued]").waitFor({ state: "detached" });
  await chat.press("Yes");
  await chat.status("completed");
});

testInBrowser("a page that is loaded in mid-run continues with the text", async () => {
  const { chat, page } = await shown(SPEAKER);
  await chat.send("Speak slowly.");
  const written = beginning(HELD[0]);
  await expect.poll(() => chat.writing.textContent()).toBe(written);
  await page.reload();
  await chat.status("running");
  await expect.poll(() => chat.writing.textContent()).toBe(written);
  await expect.poll(() => chat.messages.allTextContents()).toEqual(["Speak slowly."]);
  fake.release("slow");
  await chat.status("completed");
  await expect.poll(() => chat.messages.allTextContents()).toEqual(["Speak slowly.", SENTENCE]);
});

testInBrowser("the history comes in pages, in order with new messages", async () => {
  const { chat, team, page } = await shown(HUMAN, { pageSize: 4 });
  for (const task of ["1", "2", "3"]) {
    await team.start(task);
    await chat.section.locator("fieldset").waitFor();
    await chat.press("Yes");
    await chat.status("completed");
  }
  await expect.poll(() => chat.messages.last().textContent()).toBe("Yes.");
  const all = await chat.messages.allTextContents();
  await page.reload();
  await chat.status("completed");
  await expect.poll(() => chat.messages.allTextContents()).toEqual(all.slice(-4));
  await chat.press("Earlier");
  await expect.poll(() => chat.messages.allTextContents()).toEqual(all.slice(-8));
  await team.start("4");
  await chat.status("waiting");
  await chat.press("Earlier");
  await expect.poll(async () => (await chat.messages.allTextContents())[0]).toBe("1");
  expect((await chat.messages.allTextContents()).slice(0, all.length)).toEqual(all);
  await expect.poll(() => chat.section.getByRole("button", { name: "Earlier" }).count()).toBe(0);
});

testInBrowser("another id shows nothing of the team before, whose connection ends", async () => {
  const { chat, page, requests } = await shown(SPEAKER);
  await chat.send("Speak.");
  await chat.status("completed");
  const other = await client.teams.create({ component: SPEAKER });
  const failed = page.waitForEvent("requestfailed");
  await page.locator('input[name="teams"]').fill(other.id);
  const next = new Chat(page, other.id);
  await expect.poll(() => next.messages.count()).toBe(0);
  await failed;
  await next.status("idle");
  await expect.poll(() => next.messages.count()).toBe(0);
  expect(streams(requests)).toHaveLength(2);
});

testInBrowser("a component that is unmounted ends its connection", async () => {
  const { page } = await shown(SPEAKER);
  const ended = page.waitForEvent("requestfailed");
  await page.locator('input[name="teams"]').fill("");
  expect((await ended).url()).toContain("/events");
});

testInBrowser("a team that does not exist is unavailable until it is loaded again", async () => {
  const { page } = await stage.show({ baseURL, token: KEY, teams: ["later"] });
  const chat = new Chat(page, "later");
  await chat.status("unavailable");
  await expect
    .poll(() => chat.section.locator("[data-error]").textContent())
    .toBe("team_not_found");
  await client.teams.create({ component: SPEAKER, id: "later" });
  await chat.press("Reload");
  await chat.status("idle");
  await client.team("later").delete();
  await chat.status("unavailable");
});
