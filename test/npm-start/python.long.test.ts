import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { functionTool } from "../core/python/support.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";
import { PythonEnvironment } from "../support/python-environment.ts";

let persistTo: string;
let environment: PythonEnvironment;

beforeAll(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-python-"));
  environment = await PythonEnvironment.make();
});

afterAll(async () => {
  await environment[Symbol.asyncDispose]();
  rmSync(persistTo, { recursive: true, force: true });
});

/** An agent whose replayed model calls its tool once. */
const agent = {
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "clerk",
    reflect_on_tool_use: false,
    model_client: {
      provider: "ReplayChatCompletionClient",
      config: {
        chat_completions: [
          {
            finish_reason: "function_calls",
            content: [{ id: "c", name: "greet", arguments: '{"name":"Ada"}' }],
            usage: { prompt_tokens: 0, completion_tokens: 0 },
            cached: false,
          },
        ],
        model_info: {
          vision: false,
          function_calling: true,
          json_output: false,
          family: "unknown",
          structured_output: false,
        },
      },
    },
    tools: [
      functionTool(
        "import greetings\n\ndef greet(name: str) -> str:\n    return greetings.hello(name)\n",
        { name: "greet" },
      ),
    ],
  },
};

test("npm start -- --auth --python .venv runs Python tools with the packages of the environment, after the line of the note", async () => {
  const port = await freePort();
  await using server = await NpmStart.ready({
    port,
    persistTo,
    args: ["--auth", "--python", environment.path],
    sandbox: true,
  });
  expect(server.output).toMatch(/The agents' code runs in a sandbox .*isolation: process/);
  const key = readFileSync(join(persistTo, "api-key"), "utf8").trim();
  const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const { headers, ...init } = jsonInit(body);
    const response = await fetch(`${server.url}${path}`, {
      ...init,
      headers: { ...(headers as Record<string, string>), authorization: `Bearer ${key}` },
    });
    return (await response.json()) as Record<string, unknown>;
  };
  const team = await call("/v1/teams", { id: "clerk", component: agent });
  const line = /"(\S+ -m pip install greetings)"/.exec(
    JSON.stringify(team["notes"]).replaceAll(String.raw`\"`, '"'),
  )?.[1];
  expect(line).toBe(`${environment.program} -m pip install greetings`);

  await environment.addWheel(
    "greetings",
    "greetings",
    "def hello(name):\n    return f'Hello, {name}!'\n",
  );
  await promisify(execFile)("sh", ["-c", line ?? "false"], {
    env: { ...process.env, ...environment.pip },
  });
  const run = await call("/v1/teams/clerk/runs?wait=60", { task: "Greet Ada." });
  expect(JSON.stringify(run)).toContain("Hello, Ada!");
});

test.each([
  [
    ["--python", "nowhere"],
    {},
    /--python is "nowhere", which does not exist: it must be the folder/,
  ],
  [["--python", "/bin/ls"], {}, /--python is "\/bin\/ls", which does not run as Python/],
  [
    ["--python", "/usr/bin/python3"],
    { SANDBOX_ISOLATION: "wasm" },
    /--python runs code as processes, and SANDBOX_ISOLATION is wasm/,
  ],
  [
    ["--python", "/usr/bin/python3"],
    { SANDBOX_URL: "http://127.0.0.1:9" },
    /--python is for the sandbox that the server starts, and SANDBOX_URL names another one/,
  ],
] as const)(
  "npm start -- %s with %o ends with what is allowed",
  async (args, settings, message) => {
    const port = await freePort();
    await using server = new NpmStart({
      port,
      persistTo,
      args: [...args],
      sandbox: true,
      settings,
    });
    expect(await server.exit()).toBe(1);
    expect(server.output).toMatch(message);
  },
);
