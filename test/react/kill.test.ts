import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { TroupeClient } from "troupe/client";
import { bundleWorker } from "../chaos/harness/bundle.ts";
import { Workerd } from "../chaos/harness/workerd.ts";
import { SENTENCE, speaker } from "../client/support/speaker.ts";
import { testInBrowser } from "../support/browser.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { Chat, Stage } from "./support/stage.ts";

testInBrowser("a page goes on after kill -9 of the server in mid-sentence", async () => {
  const directory = mkdtempSync(join(tmpdir(), "troupe-react-"));
  await using stage = await Stage.start();
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", pace_ms: 100, reply: { content: SENTENCE } }],
  });
  const vars = {
    TROUPE_OPEN: "1",
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_ORIGINS: stage.origin,
  };
  const config = await bundleWorker(directory, Object.keys(vars), "src/worker.ts");
  const workerd = new Workerd({ config, state: join(directory, "state"), vars });
  try {
    await workerd.start(null);
    const client = new TroupeClient({ baseURL: workerd.origin });
    const team = await client.teams.create({ component: speaker(fake.url) });
    const { page } = await stage.show({ baseURL: workerd.origin, teams: [team.id] });
    const chat = new Chat(page, team.id);
    await chat.status("idle");
    await chat.send("Speak.");
    await expect.poll(async () => (await chat.writing.textContent())?.length).toBeGreaterThan(40);
    await workerd.kill();
    await chat.connected(false);
    expect(await chat.messages.allTextContents()).toEqual(["Speak."]);
    await workerd.start(null);
    await chat.connected(true);
    await chat.status("completed");
    expect(await chat.messages.allTextContents()).toEqual(["Speak.", SENTENCE]);
    expect(await chat.writing.count()).toBe(0);
    expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
  } finally {
    await workerd.kill();
    rmSync(directory, { recursive: true, force: true });
  }
});
