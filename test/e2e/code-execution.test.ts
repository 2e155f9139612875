import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestSandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

let openai: FakeOpenAI;
let sandbox: TestSandbox;
let worker: TestWorker;

const fenced = (code: string): string => `\`\`\`python\n${code}\n\`\`\``;

/** Fails as long as the file is not there. */
const READ = fenced('print("looking")\nprint(open("total.txt").read())');
const COUNT = fenced(
  'import time\nprint("counting")\ntime.sleep(0.5)\nopen("total.txt", "w").write(str(sum(range(101))))\nprint("written")',
);

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      {
        name: "decide",
        match: { text: "another attempt" },
        reply: { content: '{"reason": "The file has to be written first.", "retry": true}' },
      },
      { name: "say what was read", match: { text: "5050" }, reply: { content: "It is 5050." } },
      { name: "say that it is done", match: { text: "written" }, reply: { content: "Done." } },
      { name: "read", match: { text: "Read the total." }, reply: { content: READ } },
      { name: "correct", match: { any: "FileNotFoundError" }, reply: { content: COUNT } },
      { name: "begin", match: { text: "What is the total?" }, reply: { content: READ } },
    ],
  });
  sandbox = await TestSandbox.start();
  worker = await TestWorker.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
}, 60_000);

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await openai.close();
});

const coder = () => ({
  provider: "autogen_agentchat.agents.CodeExecutorAgent",
  config: {
    name: "coder",
    // As AutoGen dumps it: what runs here is the sandbox.
    code_executor: {
      provider: "autogen_ext.code_executors.local.LocalCommandLineCodeExecutor",
      config: { timeout: 20 },
    },
    model_client: {
      provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
      config: {
        model: "fake",
        base_url: openai.url,
        api_key: "sk-test",
        model_info: {
          vision: false,
          function_calling: true,
          json_output: true,
          structured_output: true,
          family: "unknown",
        },
      },
    },
    model_client_stream: true,
    max_retries_on_error: 2,
  },
});

interface Timed {
  item: JsonObject;
  at: number;
}

/** Runs a task and returns the items of its stream with the times they came at. */
async function stream(team: string, task: string): Promise<Timed[]> {
  const init = jsonInit({ task });
  const response = await worker.fetch(`/v1/teams/${team}/runs`, {
    ...init,
    headers: { ...init.headers, accept: "text/event-stream" },
  });
  expect(response.status).toBe(200);
  const items: Timed[] = [];
  const frames = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of frames) {
    if (event === undefined) items.push({ item: JSON.parse(data), at: performance.now() });
  }
  return items;
}

const ofType = (items: readonly Timed[], type: string): JsonObject[] =>
  items.map(({ item }) => item).filter((item) => item.type === type);

test("a team writes code, runs it, corrects it, and finds its files again", async () => {
  const component = {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: { participants: [coder()], max_turns: 1 },
  };
  const created = await worker.fetch("/v1/teams", jsonInit({ id: "coders", component }));
  expect(created.status, await created.text()).toBe(201);

  const items = await stream("coders", "What is the total?");
  const executions = ofType(items, "CodeExecutionEvent");
  expect(executions.map(({ retry_attempt, result }) => [retry_attempt, result])).toEqual([
    [0, expect.objectContaining({ exit_code: 1 })],
    [1, expect.objectContaining({ exit_code: 0, output: "counting\nwritten\n" })],
  ]);
  expect(JSON.stringify(executions[0]?.result)).toContain("FileNotFoundError");
  expect(ofType(items, "TaskResult")).toHaveLength(1);

  // The output came while the code ran.
  const id = executions[1]?.id;
  const pieces = items.filter(({ item }) => item.full_message_id === id);
  expect(pieces.map(({ item }) => item.content).join("")).toBe("counting\nwritten\n");
  expect((pieces.at(-1)?.at ?? 0) - (pieces[0]?.at ?? 0)).toBeGreaterThan(250);

  const later = await stream("coders", "Read the total.");
  expect(ofType(later, "CodeExecutionEvent")).toMatchObject([
    { retry_attempt: 0, result: { exit_code: 0, output: "looking\n5050\n" } },
  ]);
  expect(ofType(later, "TextMessage").at(-1)).toMatchObject({ content: "It is 5050." });
}, 60_000);
