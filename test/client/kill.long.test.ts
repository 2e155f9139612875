import { expect, test } from "vitest";
import { type StreamItem, TroupeClient } from "#client/index.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { expectSentence, SENTENCE, speaker } from "./support/speaker.ts";

test("a run continues in the same loop after kill -9 of the server in mid-sentence", async () => {
  await using fake = await startFakeOpenAI({
    rules: [{ name: "speak", hold: true, hold_after: [15], reply: { content: SENTENCE } }],
  });
  await using worker = await KillableWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  const client = new TroupeClient({ baseURL: worker.origin });
  const team = await client.teams.create({ component: speaker(fake.url) });
  const stream = team.run("Speak.");
  const items: StreamItem[] = [];
  let killed = false;
  for await (const item of stream) {
    items.push(item);
    if (killed || item.kind !== "text" || item.text.content.length < 40) continue;
    killed = true;
    await worker.kill();
    fake.release("speak");
    await worker.restart();
  }
  expect(killed).toBe(true);
  expectSentence(items);
  expect(items.at(-1)).toMatchObject({ kind: "result" });
  expect(stream.conversation.messages.map(({ source }) => source)).toEqual(["user", "speaker"]);
  expect((await team.runs()).runs).toMatchObject([{ status: "completed" }]);
});
