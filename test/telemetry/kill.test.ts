import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { bundleWorker } from "../chaos/harness/bundle.ts";
import { Workerd } from "../chaos/harness/workerd.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { Collector } from "./support/collector.ts";

/** An agent whose model first calls a tool. */
function clerk(url: string) {
  return {
    provider: "AssistantAgent",
    config: {
      name: "clerk",
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "gpt-4o", base_url: url, api_key: "test" },
      },
      tools: [{ provider: "FunctionTool", config: { name: "calculator" } }],
      reflect_on_tool_use: true,
    },
  };
}

test("after kill -9 in mid-turn each span is sent once, with the ids that were known before", async () => {
  const directory = mkdtempSync(join(tmpdir(), "troupe-trace-"));
  await using collector = await Collector.start();
  await using fake = await startFakeOpenAI({
    rules: [
      { name: "answer", match: { any: "42" }, hold: true, reply: { content: "It is 42." } },
      {
        name: "calculate",
        reply: { tool_calls: [{ name: "calculator", arguments: { expression: "6 * 7" } }] },
      },
    ],
  });
  const vars = {
    TROUPE_OPEN: "1",
    SECRETS_KEY: btoa("k".repeat(32)),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const config = await bundleWorker(directory, Object.keys(vars), "src/worker.ts");
  const workerd = new Workerd({ config, state: join(directory, "state"), vars });
  try {
    await workerd.start(null);
    const client = new TroupeClient({ baseURL: workerd.origin });
    const team = await client.teams.create({ component: clerk(fake.url) });
    const { id } = await team.start("What is 6 times 7?");
    await expect.poll(() => fake.requests.length, { timeout: 30_000 }).toBe(2);
    const before = await team.trace(id);
    expect(before.spans.map(({ name, status }) => [name, status])).toEqual([
      ["run", "running"],
      ["turn", "ok"],
      ["turn", "running"],
      ["invoke_agent clerk", "running"],
      ["chat gpt-4o", "ok"],
      ["execute_tool calculator", "ok"],
      ["chat gpt-4o", "running"],
    ]);
    // What is not sent yet is lost with the process: the turn that took the task.
    await expect.poll(() => collector.spans.length).toBe(1);
    await workerd.kill();
    await workerd.start(null);
    await expect.poll(() => fake.requests.length, { timeout: 30_000 }).toBe(3);
    fake.release("answer");
    await expect
      .poll(async () => (await team.getRun(id)).status, { timeout: 30_000 })
      .toBe("completed");

    const after = await team.trace(id);
    const recovery = after.spans.find(({ kind }) => kind === "recovery");
    expect(recovery).toBeDefined();
    const ids = (spans: readonly { span_id: string }[]) => spans.map(({ span_id }) => span_id);
    expect(ids(after.spans.filter((span) => span !== recovery))).toEqual(ids(before.spans));
    const recovered = after.spans.filter((span) => span.recovered).map(({ name }) => name);
    expect(recovered).toEqual(["chat gpt-4o", "execute_tool calculator"]);

    await expect.poll(() => collector.spans.length).toBe(after.spans.length);
    expect(collector.spans.map(({ spanId }) => spanId).toSorted()).toEqual(
      ids(after.spans).toSorted(),
    );
    // The call that was made again is in the same span as the one that was cut off.
    const [, cut, again] = fake.requests.map(({ headers }) => headers["traceparent"]);
    expect(again).toBe(cut);
    expect(collector.total("troupe.recoveries")).toBe(1);
  } finally {
    await workerd.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}, 120_000);
