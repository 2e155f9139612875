import { EventSourceParserStream } from "eventsource-parser/stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

let openai: FakeOpenAI;
let sandbox: Sandbox;
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
  sandbox = await Sandbox.start();
  worker = await TestWorker.start({
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
    SECRETS_KEY: btoa("k".repeat(32)),
  });
});

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

const runner = {
  provider: "autogen_agentchat.agents.CodeExecutorAgent",
  config: {
    name: "runner",
    code_executor: { provider: "troupe.code_executors.SandboxCodeExecutor", config: {} },
    model_client_stream: true,
  },
};

const commentator = {
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "commentator",
    description: "Says something about it.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: { chat_completions: ["What a pity."] },
    },
  },
};

async function create(team: object): Promise<void> {
  const created = await worker.fetch("/v1/teams", jsonInit(team));
  expect(created.status, await created.text()).toBe(201);
}

interface Timed {
  item: JsonObject;
  at: number;
}

/** Runs a task and returns the items of its stream with the times they came at. `onPiece` is called with the first piece. */
async function stream(team: string, task: string, onPiece?: () => unknown): Promise<Timed[]> {
  const init = jsonInit({ task });
  const response = await worker.fetch(`/v1/teams/${team}/runs`, {
    ...init,
    headers: { "content-type": "application/json", accept: "text/event-stream" },
  });
  expect(response.status).toBe(200);
  const items: Timed[] = [];
  const frames = (response.body as ReadableStream<Uint8Array>)
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { event, data } of frames) {
    if (event !== undefined) continue;
    const item = JSON.parse(data) as JsonObject;
    items.push({ item, at: performance.now() });
    if (item.type !== "ModelClientStreamingChunkEvent") continue;
    await onPiece?.();
    onPiece = undefined;
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
  await create({ id: "coders", component });
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
  expect(pieces.map(({ item }) => item.content as string).join("")).toBe("counting\nwritten\n");
  expect((pieces.at(-1)?.at ?? 0) - (pieces[0]?.at ?? 0)).toBeGreaterThan(250);

  const later = await stream("coders", "Read the total.");
  expect(ofType(later, "CodeExecutionEvent")).toMatchObject([
    { retry_attempt: 0, result: { exit_code: 0, output: "looking\n5050\n" } },
  ]);
  expect(ofType(later, "TextMessage").at(-1)).toMatchObject({ content: "It is 5050." });
});

test("the template code_runner runs the code of a message, in any of its languages", async () => {
  await create({ id: "runner", template: "code_runner" });
  const task = `${fenced('open("n", "w").write("7")')}\n\n\`\`\`sh\necho "$(cat n) is lucky"\n\`\`\``;
  const items = await stream("runner", task);
  expect(ofType(items, "TextMessage").at(-1)).toMatchObject({
    source: "code_runner",
    content: "7 is lucky\n",
  });
});

test("the result reports that the sandbox was killed while code ran, and the team continues", async () => {
  const component = {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: { participants: [runner, commentator], max_turns: 2 },
  };
  await create({ id: "unlucky", component });
  const ended = stream(
    "unlucky",
    fenced('print("begun", flush=True)\nimport time\ntime.sleep(60)'),
    () => sandbox.kill(),
  );
  const messages = ofType(await ended, "TextMessage");
  expect(messages.map(({ source }) => source)).toEqual(["user", "runner", "commentator"]);
  expect(messages[1]?.content).toMatch(/it is not known whether it ran/);
});
