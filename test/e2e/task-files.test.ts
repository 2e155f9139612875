// The files of a task, among them the payload of a trigger, as code in the sandbox and Python tools read them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";
import { Sandbox } from "../support/sandbox.ts";

let sandbox: Sandbox;
let worker: KillableWorker;

beforeAll(async () => {
  sandbox = await Sandbox.start();
  worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    SANDBOX_URL: sandbox.url,
    SANDBOX_KEY: sandbox.key,
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

async function ask<T>(path: string, body?: unknown, method = "POST"): Promise<T> {
  const init = body === undefined ? {} : jsonInit(body, method);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return JSON.parse(text) as T;
}

/** What the code of a run has printed, and its tools have answered. */
async function printed(team: string, run: string): Promise<string> {
  const path = `/v1/teams/${team}/runs/${run}`;
  await expect.poll(async () => (await ask<RunInfo>(path)).status).toBe("completed");
  const { messages } = (await ask<RunInfo>(path)).result ?? { messages: [] };
  return messages
    .map((message) => ("result" in message ? message.result.output : message.content))
    .filter((content) => typeof content === "string")
    .join("\n");
}

/** A model that gives these answers. */
const replay = (...answers: (string | object)[]) => ({
  provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
  config: {
    chat_completions: answers,
    cycle: true,
    model_info: {
      vision: false,
      function_calling: true,
      json_output: false,
      structured_output: false,
      family: "unknown",
    },
  },
});

/** An agent that runs this Python. */
const runner = (code: string) => ({
  provider: "autogen_agentchat.agents.CodeExecutorAgent",
  config: {
    name: "runner",
    code_executor: { provider: "troupe.code_executors.SandboxCodeExecutor", config: {} },
    model_client: replay(`\`\`\`python\n${code}\`\`\``, "Done."),
  },
});

const READ = `import json, os
folder = os.path.join(os.environ["SANDBOX_FOLDERS"], "task")
for name in sorted(os.listdir(folder)):
    print(name, open(os.path.join(folder, name)).read())
try:
    open(os.path.join(folder, "payload.json"), "w")
except OSError:
    print("cannot be changed")
`;

const LIST = `import os
print(sorted(os.listdir(os.path.join(os.environ["SANDBOX_FOLDERS"], "task"))))
`;

const countWords = `import json
import os

def count_words() -> int:
    with open(os.path.join(os.environ["SANDBOX_FOLDERS"], "task", "payload.json")) as file:
        return len(json.load(file)["text"].split())
`;

const clerk = {
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "clerk",
    tools: [
      {
        provider: "autogen_core.tools.FunctionTool",
        config: {
          name: "count_words",
          description: "Counts the words of the event.",
          source_code: countWords,
          global_imports: [],
          has_cancellation_support: false,
        },
      },
    ],
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    model_client: replay({
      finish_reason: "function_calls",
      content: [{ id: "c", name: "count_words", arguments: "{}" }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
      cached: false,
    }),
  },
};

async function delivered(team: string, component: object, task: string, payload: object) {
  await ask("/v1/teams", { id: team, component });
  const { secret } = await ask<{ secret: string }>(
    `/v1/teams/${team}/triggers/door`,
    { kind: "plain", task },
    "PUT",
  );
  const headers = { authorization: `Bearer ${secret}` };
  const response = await worker.fetch(`/in/local/${team}/door`, jsonInit(payload, "POST", headers));
  expect(response.status).toBe(202);
  return ((await response.json()) as { run: string }).run;
}

describe("the payload of a trigger", () => {
  test("is a file that code of the run reads and cannot change", async () => {
    const run = await delivered("code", runner(READ), "Read it.", { order: 7 });
    const text = await printed("code", run);
    expect(text).toContain('payload.json {\n "order": 7\n}');
    expect(text).toContain("cannot be changed");
    const { files } = await ask<{ files: unknown[] }>("/v1/teams/code/files");
    expect(files).toEqual([]);
  });

  test("is a file that a Python tool of the run reads", async () => {
    const run = await delivered("python", clerk, "Count.", { text: "three small words" });
    expect(await printed("python", run)).toContain("3");
  });
});

test("files of the same name have paths of their own", async () => {
  await ask("/v1/teams", { id: "files", component: runner(LIST) });
  const part = (text: string, name: string) => ({
    data: btoa(text),
    name,
    media_type: "text/plain",
  });
  const { id } = await ask<RunInfo>("/v1/teams/files/runs", {
    task: {
      type: "MultiModalMessage",
      source: "user",
      content: ["List them.", part("one", "a/b.txt"), part("two", "a_b.txt")],
    },
  });
  expect(await printed("files", id)).toContain("['2-a_b.txt', 'a_b.txt']");
});

test("a task without files mounts no folder", async () => {
  const code =
    'import os\nprint(os.path.exists(os.environ.get("SANDBOX_FOLDERS", "/none") + "/task"))\n';
  await ask("/v1/teams", { id: "none", component: runner(code) });
  const { id } = await ask<RunInfo>("/v1/teams/none/runs", { task: "Look." });
  expect(await printed("none", id)).toContain("False");
});
