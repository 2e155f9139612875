// Secrets in the environment of Python, end to end: a Worker, a sandbox, HTTP.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { functionTool } from "../core/python/support.ts";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

const KEY = "AIza-0123456789-abcdef";
const OWN = "own-0123456789-abcdef";

let data: string;
let sandbox: Sandbox;
let worker: TestWorker;

beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "troupe-"));
  sandbox = await Sandbox.start({ settings: { SANDBOX_ISOLATION: "wasm" } });
  worker = await TestWorker.start(
    {
      SANDBOX_URL: sandbox.url,
      SANDBOX_KEY: sandbox.key,
      GOOGLE_API_KEY: KEY,
      OTHER_KEY: KEY,
      SECRETS_KEY: btoa("k".repeat(32)),
      SECRET_HOSTS: JSON.stringify({
        GOOGLE_API_KEY: [new URL(sandbox.url).host],
        MISSING_KEY: ["sandbox.internal"],
        OTHER_KEY: ["api.example.com"],
      }),
    },
    { persistTo: data },
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await rm(data, { recursive: true });
});

const SHOW = `
import base64, os
KEY = os.environ["GOOGLE_API_KEY"]

def show(how: str) -> str:
    if how == "raise":
        raise ValueError("no access with " + KEY)
    if how == "length":
        return str(len(KEY))
    return f"{KEY} {base64.b64encode(KEY.encode()).decode()} {os.environ.get('OWN_KEY')}"
`;

/** An agent that makes the calls, one in each run. */
function agent(tools: object[], calls: [name: string, args: object][]): object {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      description: "Calls tools.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      workbench: [{ provider: "autogen_core.tools.StaticWorkbench", config: { tools } }],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: calls.map(([name, args], index) => ({
            finish_reason: "function_calls",
            content: [{ id: `c${index}`, name, arguments: JSON.stringify(args) }],
            usage: { prompt_tokens: 0, completion_tokens: 0 },
            cached: false,
          })),
          model_info: {
            vision: false,
            function_calling: true,
            json_output: true,
            family: "unknown",
            structured_output: true,
          },
        },
      },
    },
  };
}

const tool = (env: object): object => functionTool(SHOW, { name: "show", env: env as never });

const codeTool = (env: object): object => ({
  provider: "autogen_ext.tools.code_execution.PythonCodeExecutionTool",
  config: { executor: { provider: "LocalCommandLineCodeExecutor", config: { timeout: 20, env } } },
});

const create = (id: string, component: object): Promise<Response> =>
  worker.fetch("/v1/teams", jsonInit({ id, component }));

async function run(team: string): Promise<string> {
  const response = await worker.fetch(
    `/v1/teams/${team}/runs?wait=60`,
    jsonInit({ task: "Go on." }),
  );
  const { status, result, error } = (await response.json()) as RunInfo;
  expect({ status, error }).toEqual({ status: "completed", error: null });
  return String((result?.messages.at(-1) as { content?: unknown } | undefined)?.content);
}

describe("secrets in the environment of Python", () => {
  test("reach the function and the code of a model, and nothing else", async () => {
    const env = { GOOGLE_API_KEY: "env:GOOGLE_API_KEY", OWN_KEY: OWN };
    const print =
      "import os\nprint(os.environ['GOOGLE_API_KEY'])\nprint(len(os.environ['OWN_KEY']))";
    const created = await create(
      "a",
      agent(
        [tool(env), codeTool(env)],
        [
          ["show", { how: "length" }],
          ["show", { how: "return" }],
          ["show", { how: "raise" }],
          ["CodeExecutor", { code: print }],
        ],
      ),
    );
    const shown = await created.text();
    expect(created.status, shown).toBe(201);
    expect(await run("a")).toBe(String(KEY.length));
    expect(await run("a")).toBe("[redacted] [redacted]g== [redacted]");
    expect(await run("a")).toBe("no access with [redacted]");
    expect(await run("a")).toBe(`[redacted]\n${OWN.length}\n`);

    const read = async (path: string): Promise<string> => {
      const answer = await worker.fetch(`/v1/teams/a${path}`);
      expect(answer.status, path).toBe(200);
      return answer.text();
    };
    const texts = [shown];
    for (const path of ["", "/messages", "/runs", "/state"]) {
      texts.push(await read(path));
    }
    const runs = JSON.parse(texts[3] ?? "") as { runs: { id: string }[] };
    for (const { id } of runs.runs) {
      for (const part of ["", "/trace", "/events"]) texts.push(await read(`/runs/${id}${part}`));
    }
    expect(texts.join()).toContain("env:GOOGLE_API_KEY");
    const stored = await files(data);
    expect(stored).toContain("no access with [redacted]");
    for (const secret of [KEY, OWN, btoa(KEY).slice(0, -4)]) {
      expect(texts.join()).not.toContain(secret);
      expect(stored).not.toContain(secret);
    }
  });

  test("that are not set or not allowed give a note at creation and an error at the call", async () => {
    const calls: [string, object][] = [["show", { how: "length" }]];
    for (const [team, name, reason] of [
      ["b", "MISSING_KEY", "The secret MISSING_KEY is not set"],
      ["c", "OTHER_KEY", `may not be sent to "${new URL(sandbox.url).host}"`],
      ["d", "UNKNOWN_KEY", "may not be used"],
    ] as const) {
      const answer = await create(team, agent([tool({ GOOGLE_API_KEY: `env:${name}` })], calls));
      const { notes } = (await answer.json()) as { notes: object[] };
      expect(notes).toContainEqual({
        path: expect.stringMatching(/tools\[0\]\.config\.env\.GOOGLE_API_KEY$/),
        message: expect.stringContaining(reason),
      });
      expect(await run(team)).toContain(reason);
    }
    const answer = await create("e", agent([codeTool({ A: "env:MISSING_KEY" })], calls));
    expect(await answer.text()).toContain("The secret MISSING_KEY is not set");
  });

  test("that have reserved names are refused with their place", async () => {
    for (const made of [tool, codeTool]) {
      const answer = await create(
        "f",
        agent([made({ GOOGLE_API_KEY: "1", PYTHONPATH: "env:GOOGLE_API_KEY" })], []),
      );
      expect(answer.status).toBe(422);
      expect(await answer.text()).toContain("env.PYTHONPATH");
    }
  });
});

/** What all files of a directory have. */
async function files(directory: string): Promise<string> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  const texts = found
    .filter((entry) => entry.isFile())
    .map((entry) => readFile(join(entry.parentPath, entry.name), "latin1"));
  return (await Promise.all(texts)).join("\n");
}
