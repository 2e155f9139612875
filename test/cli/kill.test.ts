import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { bundleWorker } from "../chaos/harness/bundle.ts";
import { Workerd } from "../chaos/harness/workerd.ts";
import { SENTENCE, speaker } from "../client/support/speaker.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { RunningCommand } from "./support/command.ts";

test("troupe run goes on after kill -9 of the server in mid-sentence", async () => {
  const directory = mkdtempSync(join(tmpdir(), "troupe-cli-kill-"));
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", pace_ms: 10, reply: { content: SENTENCE } }],
  });
  const vars = { TROUPE_OPEN: "1", SECRETS_KEY: btoa("k".repeat(32)) };
  const config = await bundleWorker(directory, Object.keys(vars), "src/worker.ts");
  const workerd = new Workerd({ config, state: join(directory, "state"), vars });
  try {
    await workerd.start(null);
    const client = new TroupeClient({ baseURL: workerd.origin });
    await client.teams.create({ id: "demo", component: speaker(fake.url) });
    const command = new RunningCommand(["run", "demo", "Speak."], { url: workerd.origin });
    await command.until(/speaker: the quick brown fox jumps/);
    await workerd.kill();
    await workerd.start(null);
    const { code, stdout, stderr } = await command.end();
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^user: Speak\.\nspeaker: the quick/);
    expect(stdout).toContain(`speaker: ${SENTENCE}\n(completed: `);
  } finally {
    await workerd.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}, 90_000);
