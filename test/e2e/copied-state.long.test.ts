import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";

const SETTINGS = { SECRETS_KEY: btoa("k".repeat(32)) };
const TEAMS = ["one", "two", "three"];

test("the directory of the state can be copied while runs are under way", async () => {
  await using models = await startFakeOpenAI({
    rules: [{ name: "slow", hold: true, hold_after: [1], reply: { content: "a b c d" } }],
  });
  await using worker = await KillableWorker.start(SETTINGS);
  const client = new TroupeClient({ baseURL: worker.origin });
  const client_config = { model: "gpt-4o", api_key: "sk-stored", base_url: `${models.origin}/v1` };
  const component = {
    provider: "AssistantAgent",
    config: {
      name: "helper",
      model_client: { provider: "OpenAIChatCompletionClient", config: client_config },
    },
  };
  const schedule = { id: "daily", cron: "0 8 * * *", timezone: "Europe/Berlin", task: "Morning." };
  const hook = { url: "https://hooks.example/", events: ["run.completed"] };
  const calls: [string, string, object][] = [
    ...TEAMS.map((id): [string, string, object] => ["POST", "teams", { id, component }]),
    ["POST", "teams/one/schedules", schedule],
    ["PUT", "webhooks/hook", hook],
    ["PUT", "collections/handbook", { description: "For staff." }],
    ["PUT", "collections/handbook/documents/tea", { mime_type: "text/plain", content: "Tea." }],
    ["POST", "memories", { scope: "user", user: "anna", content: "Anna likes tea." }],
    ["POST", "memories", { scope: "tenant", content: "Tea is at four." }],
  ];
  for (const [method, path, body] of calls) {
    const response = await worker.fetch(`/v1/${path}`, jsonInit(body, method));
    expect(response.ok, `${path}: ${await response.text()}`).toBe(true);
  }
  const { key } = await client.keys.create({ name: "app" });
  for (const id of TEAMS) await client.team(id).start("Count.");
  await expect.poll(() => models.requests.length).toBe(TEAMS.length);
  await expect.poll(async () => (await client.teams.list()).teams.length).toBe(TEAMS.length);

  const copy = mkdtempSync(join(tmpdir(), "troupe-copy-"));
  try {
    cpSync(worker.state, copy, { recursive: true });
    await worker.kill();
    models.rules.release("slow");
    await using restored = await KillableWorker.start(SETTINGS, { persistTo: copy });
    const again = new TroupeClient({ baseURL: restored.origin, token: key });
    for (const id of TEAMS) {
      await expect.poll(async () => (await again.team(id).get()).status).toBe("idle");
      const { messages } = await again.team(id).messages();
      expect(messages).toMatchObject([{ content: "Count." }, { content: "a b c d" }]);
    }
    expect(models.requests.at(-1)?.headers["authorization"]).toBe("Bearer sk-stored");
    expect((await again.teams.list()).teams.map(({ id }) => id).toSorted()).toEqual(
      TEAMS.toSorted(),
    );
    expect((await again.team("one").schedules()).schedules).toMatchObject(
      [schedule].map(({ id, cron }) => ({ id, cron })),
    );
    expect(await again.webhooks.get("hook")).toMatchObject(hook);
    expect((await again.collections.documents("handbook")).documents).toHaveLength(1);
    expect((await again.memories.list({ user: "anna" })).memories).toHaveLength(1);
    expect((await again.memories.list({ scope: "tenant" })).memories).toHaveLength(1);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
