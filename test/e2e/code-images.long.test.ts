import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Draws six plots, a text that is named like one, and a file that is too large. */
const DRAW = `
import base64
pixel = base64.b64decode("${PIXEL}")
for n in range(6):
    open(f"plot{n}.png", "wb").write(pixel + bytes([n]))
open("note.png", "w").write("not an image")
open("a-large.png", "wb").write(pixel + bytes(1_000_000))
print("drawn")
`;
const BLOCK = `\`\`\`python\n${DRAW}\n\`\`\``;

let openai: FakeOpenAI;
let sandbox: Sandbox;
let worker: TestWorker;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "write code", match: { text: "Draw it." }, reply: { content: BLOCK } },
      {
        name: "call the tool",
        match: { text: "Use the tool." },
        reply: {
          tool_calls: [{ name: "CodeExecutor", arguments: JSON.stringify({ code: DRAW }) }],
        },
      },
      { name: "comment", reply: { content: "I see." } },
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

const executor = { provider: "troupe.code_executors.SandboxCodeExecutor", config: {} };

const model = (vision: boolean) => ({
  provider: "OpenAIChatCompletionClient",
  config: {
    model: "fake",
    base_url: openai.url,
    api_key: "sk-test",
    model_info: {
      vision,
      function_calling: true,
      json_output: true,
      structured_output: true,
      family: "unknown",
    },
  },
});

const coder = (vision: boolean) => ({
  provider: "CodeExecutorAgent",
  config: { name: "coder", code_executor: executor, model_client: model(vision) },
});

const pair = (vision: boolean) => ({
  provider: "RoundRobinGroupChat",
  config: {
    participants: [
      { provider: "CodeExecutorAgent", config: { name: "runner", code_executor: executor } },
      assistant("critic", vision, []),
    ],
    max_turns: 2,
  },
});

const assistant = (name: string, vision: boolean, tools: readonly object[]) => ({
  provider: "AssistantAgent",
  config: {
    name,
    description: name,
    model_client: model(vision),
    tools,
    reflect_on_tool_use: true,
    tool_call_summary_format: "{result}",
  },
});

const withTool = (vision: boolean) =>
  assistant("user_of_tools", vision, [
    {
      provider: "autogen_ext.tools.code_execution.PythonCodeExecutionTool",
      config: { executor },
    },
  ]);

/** Runs a task and returns what the last model was asked, and the run. */
async function asked(
  component: object,
  task: string,
): Promise<{ request: string; run: RunInfo; files: string | undefined }> {
  const created = await worker.fetch("/v1/teams", jsonInit({ component }));
  const { id } = (await created.json()) as { id: string };
  const ran = await worker.fetch(`/v1/teams/${id}/runs?wait=60`, jsonInit({ task }));
  const run = (await ran.json()) as RunInfo;
  expect(run).toMatchObject({ status: "completed" });
  const last = openai.requests.at(-1);
  const files = run.result?.messages
    .map((message) => (message as { metadata?: { files?: string } }).metadata?.files)
    .find((metadata) => metadata !== undefined);
  return { request: JSON.stringify(last?.body), run, files };
}

const times = (text: string, part: string): number => text.split(part).length - 1;

const WAYS = [
  ["a code executor agent that writes it", coder, "Draw it."],
  ["a code executor agent that runs it for another agent", pair, BLOCK],
  ["the code execution tool", withTool, "Use the tool."],
] as const;

test.each(WAYS)("%s: a model that sees is shown the images", async (_name, component, task) => {
  const { request } = await asked(component(true), task);
  expect(times(request, '"type":"image_url"')).toBe(4);
  expect(times(request, `data:image/png;base64,${PIXEL.slice(0, 40)}`)).toBe(4);
  expect(request).not.toContain("[Image: iVBOR");
  for (const path of ["a-large.png", "plot4.png", "plot5.png"])
    expect(request).toContain(`[Image ${path} is not shown]`);
  expect(request).not.toContain("[Image note.png");
});

test.each(WAYS)("%s: another model reads one line for each", async (_name, component, task) => {
  const { request } = await asked(component(false), task);
  expect(request).not.toContain("image_url");
  expect(request).not.toContain(`[Image: ${PIXEL.slice(0, 20)}`);
  expect(times(request, "[Image: image/png, 71 bytes")).toBe(4);
});

test("results keep the fields of AutoGen, and their text is the output of the code", async () => {
  const written = await asked(coder(true), "Draw it.");
  const event = written.run.result?.messages.find(({ type }) => type === "CodeExecutionEvent");
  expect(event).toMatchObject({ result: { exit_code: 0, output: "drawn\n" } });
  expect(Object.keys((event as { result: object }).result)).toEqual(["exit_code", "output"]);
  expect(JSON.parse(written.files ?? "")).toContain("plot0.png");
  const ran = await asked(pair(true), BLOCK);
  expect(ran.run.result?.messages[1]).toMatchObject({ type: "TextMessage", content: "drawn\n" });
});
