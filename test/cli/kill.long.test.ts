import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { SENTENCE, speaker } from "../client/support/speaker.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { RunningCommand } from "./support/command.ts";

test("troupe run continues after kill -9 of the server in mid-sentence", async () => {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", hold: true, hold_after: [15], reply: { content: SENTENCE } }],
  });
  await using worker = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  const client = new TroupeClient({ baseURL: worker.origin });
  await client.teams.create({ id: "demo", component: speaker(fake.url) });
  const command = new RunningCommand(["run", "demo", "Speak."], { url: worker.origin });
  await command.until(/speaker: the quick brown fox jumps/);
  await worker.kill();
  fake.release("speak");
  await worker.restart();
  const { code, stdout, stderr } = await command.end();
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/^user: Speak\.\nspeaker: the quick/);
  expect(stdout).toContain(`speaker: ${SENTENCE}\n(completed: `);
});
