import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type StreamItem, TroupeClient } from "#client/index.ts";
import { bundleWorker } from "../chaos/harness/bundle.ts";
import { Workerd } from "../chaos/harness/workerd.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { expectSentence, SENTENCE, speaker } from "./support/speaker.ts";

test("a run goes on in the same loop after kill -9 of the server in mid-sentence", async () => {
  const directory = mkdtempSync(join(tmpdir(), "troupe-client-"));
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", pace_ms: 5, reply: { content: SENTENCE } }],
  });
  const vars = { TROUPE_OPEN: "1", SECRETS_KEY: btoa("k".repeat(32)) };
  const config = await bundleWorker(directory, Object.keys(vars), "src/worker.ts");
  const workerd = new Workerd({ config, state: join(directory, "state"), vars });
  try {
    await workerd.start(null);
    const client = new TroupeClient({ baseURL: workerd.origin });
    const team = await client.teams.create({ component: speaker(fake.url) });
    const stream = team.run("Speak.");
    const items: StreamItem[] = [];
    let killed = false;
    for await (const item of stream) {
      items.push(item);
      if (killed || item.kind !== "text" || item.text.content.length < 40) continue;
      killed = true;
      await workerd.kill();
      await workerd.start(null);
    }
    expect(killed).toBe(true);
    expectSentence(items);
    expect(items.at(-1)).toMatchObject({ kind: "result" });
    expect(stream.conversation.messages.map(({ source }) => source)).toEqual(["user", "speaker"]);
    expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
  } finally {
    await workerd.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);
