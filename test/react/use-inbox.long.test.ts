import { afterAll, beforeAll, expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { HAS_BROWSER, testInBrowser } from "../support/browser.ts";
import type { TestWorker } from "../support/worker.ts";
import { HUMAN, KEY, startServer } from "./support/server.ts";
import { Chat, Stage } from "./support/stage.ts";

let stage: Stage;
let worker: TestWorker;
let client: TroupeClient;
let baseURL: string;

beforeAll(async () => {
  if (!HAS_BROWSER) return;
  stage = await Stage.start();
  worker = await startServer(stage.origin, "http://127.0.0.1:9");
  baseURL = await worker.origin;
  client = new TroupeClient({ baseURL, token: KEY });
});

afterAll(async () => {
  await stage?.[Symbol.asyncDispose]();
  await worker?.[Symbol.asyncDispose]();
});

async function asking(id: string): Promise<void> {
  const team = await client.teams.create({ component: HUMAN, id });
  await team.start("Ask me.");
}

testInBrowser("questions of all teams come and go, and are answered", async () => {
  await asking("first");
  const { page, complaints } = await stage.show({
    baseURL,
    token: KEY,
    teams: ["first"],
    inbox: true,
    strict: true,
  });
  const questions = page.locator("aside fieldset");
  const teams = (): Promise<(string | null)[]> =>
    questions.evaluateAll((all) => all.map((one) => one.getAttribute("data-team")));
  await expect.poll(teams).toEqual(["first"]);
  await asking("second");
  await expect.poll(teams).toEqual(["first", "second"]);
  // The other hook shows what the inbox has answered.
  const chat = new Chat(page, "first");
  await chat.status("waiting");
  await questions.first().getByRole("button").click();
  await chat.status("completed");
  await expect.poll(teams).toEqual(["second"]);
  await client.team("second").delete();
  await expect.poll(teams).toEqual([]);
  expect(complaints).toEqual([]);
});

testInBrowser("long inboxes come in pages", async () => {
  for (const id of ["a", "b", "c"]) await asking(id);
  await expect.poll(async () => (await client.requests.list()).requests).toHaveLength(3);
  const { page } = await stage.show({
    baseURL,
    token: KEY,
    teams: [],
    inbox: true,
    pageSize: 2,
  });
  const questions = page.locator("aside fieldset");
  await expect.poll(() => questions.count()).toBe(2);
  await page.getByRole("button", { name: "More" }).click();
  await expect.poll(() => questions.count()).toBe(3);
  await expect.poll(() => page.getByRole("button", { name: "More" }).count()).toBe(0);
});

testInBrowser("a credential that may not list questions makes the inbox unavailable", async () => {
  const { key } = await client.keys.create({ name: "teams only", scopes: ["teams:read"] });
  const { page } = await stage.show({ baseURL, token: key, teams: [], inbox: true });
  await page.locator('aside[data-status="unavailable"]').waitFor();
  await expect.poll(() => page.locator("aside output").textContent()).toBe("missing_scope");
});
