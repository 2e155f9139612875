import { expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { SENTENCE, speaker } from "../client/support/speaker.ts";
import { testInBrowser } from "../support/browser.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { Chat, Stage } from "./support/stage.ts";

testInBrowser("a page continues after kill -9 of the server in mid-sentence", async () => {
  await using stage = await Stage.start();
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", hold: true, hold_after: [15], reply: { content: SENTENCE } }],
  });
  await using worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_ORIGINS: stage.origin,
  });
  const client = new TroupeClient({ baseURL: worker.origin });
  const team = await client.teams.create({ component: speaker(fake.url) });
  const { page } = await stage.show({ baseURL: worker.origin, teams: [team.id] });
  const chat = new Chat(page, team.id);
  await chat.status("idle");
  await chat.send("Speak.");
  await expect.poll(async () => (await chat.writing.textContent())?.length).toBeGreaterThan(40);
  await worker.kill();
  await chat.connected(false);
  await expect.poll(() => chat.messages.allTextContents()).toEqual(["Speak."]);
  fake.release("speak");
  await worker.restart();
  await chat.connected(true);
  await chat.status("completed");
  await expect.poll(() => chat.messages.allTextContents()).toEqual(["Speak.", SENTENCE]);
  await expect.poll(() => chat.writing.count()).toBe(0);
  expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
});
