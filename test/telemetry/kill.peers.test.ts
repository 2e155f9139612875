import { expect, test } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";
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

test("each span is sent once after kill -9 in mid-turn, with the ids that were known before", async () => {
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
  await using worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const client = new TroupeClient({ baseURL: worker.origin });
  const team = await client.teams.create({ component: clerk(fake.url) });
  const { id } = await team.start("What is 6 times 7?");
  await expect.poll(() => fake.requests.length).toBe(2);
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
  await worker.kill();
  await worker.restart();
  await expect.poll(() => fake.requests.length).toBe(3);
  fake.release("answer");
  await expect.poll(async () => (await team.getRun(id)).status).toBe("completed");

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
  // Metrics are a request of their own.
  await expect.poll(() => collector.total("troupe.recoveries")).toBe(1);
});

test("an attempt to deliver that kill -9 cut off is made again in the same span", async () => {
  await using collector = await Collector.start();
  await using receiver = await WebhookReceiver.start();
  // The first one gets no answer.
  receiver.respond = (response) => void (receiver.received.length > 1 && response.end());
  await using worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const client = new TroupeClient({ baseURL: worker.origin });
  const replay = { provider: "ReplayChatCompletionClient", config: { chat_completions: ["Hi."] } };
  const component = { provider: "AssistantAgent", config: { name: "a", model_client: replay } };
  const team = await client.teams.create({ component });
  const webhook = { url: receiver.url(), events: ["run.completed" as const] };
  const { id } = await team.start("Hello.", { webhook });
  await expect.poll(() => receiver.received.length).toBe(1);
  await worker.kill();
  await worker.restart();
  await expect.poll(() => receiver.received.length).toBe(2);
  const spans = () => collector.spans.filter(({ name }) => name === "POST");
  await expect.poll(() => spans().length).toBe(1);
  const carried = receiver.received.map(({ headers }) => headers["traceparent"]);
  const [span] = spans();
  const expected = `00-${id.replaceAll("-", "")}-${span?.spanId}-01`;
  expect(carried).toEqual([expected, expected]);
});
