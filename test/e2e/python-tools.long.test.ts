// Tools whose functions are Python in component JSON, end to end: a Worker, a sandbox, HTTP.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { parseJson } from "#core/json.ts";
import { inspectFunctions } from "#core/python/inspect-functions.ts";
import { type Import, pythonSource } from "#core/python/python-source.ts";
import { sandboxPython } from "troupe";
import signatures from "../core/python/signatures.json" with { type: "json" };
import { functionTool } from "../core/python/support.ts";
import { jsonInit } from "../support/http-app.ts";
import { Sandbox } from "../support/sandbox.ts";
import { TestWorker } from "../support/worker.ts";

let sandbox: Sandbox;
let worker: TestWorker;

beforeAll(async () => {
  sandbox = await Sandbox.start({ settings: { SANDBOX_ISOLATION: "wasm" } });
  worker = await TestWorker.start({ SANDBOX_URL: sandbox.url, SANDBOX_KEY: sandbox.key });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

const NOTE = `
import dataclasses

@dataclasses.dataclass
class Note:
    text: str
    stars: int = 1

async def note(notes: List[Note], reference: int = 0) -> int:
    """Writes notes down."""
    print("noting", notes)
    with open("notes.txt", "a") as file:
        for note in notes:
            file.write(f"{note.text} {'*' * note.stars}\\n")
    return len(notes) + reference
`;

const READ = `
def read(upper: bool = False) -> str:
    text = open("notes.txt").read().strip()
    return text.upper() if upper else text
`;

function notes(source = READ): object {
  const global_imports = [{ module: "typing", imports: ["List"] }];
  const tools = [
    functionTool(NOTE, { name: "note", global_imports }),
    functionTool(source, { name: "read" }),
    {
      provider: "autogen_ext.tools.code_execution.PythonCodeExecutionTool",
      config: {
        executor: { provider: "LocalCommandLineCodeExecutor", config: { timeout: 20 } },
      },
    },
  ];
  const calls = [
    { name: "note", arguments: { notes: [{ text: "thé 😀", stars: "3" }, { text: "rain" }] } },
    { name: "read", arguments: { upper: "yes" } },
    { name: "CodeExecutor", arguments: { code: "print(open('notes.txt').read().count('*'))" } },
    { name: "note", arguments: { notes: [{ stars: 2 }] } },
    { name: "note", arguments: parseJson('{"notes":[],"reference":9007199254740993}') },
  ];
  const chat_completions = calls.map(({ name, arguments: args }, index) => ({
    finish_reason: "function_calls",
    content: [{ id: `c${index}`, name, arguments: JSON.stringify(args) }],
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    cached: false,
  }));
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      description: "Keeps notes.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      workbench: [{ provider: "autogen_core.tools.StaticWorkbench", config: { tools } }],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions,
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

const create = (id: string, component: object): Promise<Response> =>
  worker.fetch("/v1/teams", jsonInit({ id, component }));

/** The last text of a run. */
async function run(team: string): Promise<unknown> {
  const response = await worker.fetch(
    `/v1/teams/${team}/runs?wait=60`,
    jsonInit({ task: "Go on." }),
  );
  const { status, result, error } = (await response.json()) as RunInfo;
  expect({ status, error }).toEqual({ status: "completed", error: null });
  return (result?.messages.at(-1) as { content?: unknown } | undefined)?.content;
}

describe("Python functions of component JSON", () => {
  test("accept in the sandbox's Python the arguments that AutoGen accepts on CPython", async () => {
    const sources = signatures.map(({ source_code, global_imports }) =>
      pythonSource("", source_code, global_imports as Import[]),
    );
    const python = sandboxPython({ url: sandbox.url, apiKey: sandbox.key });
    const findings = await inspectFunctions(python, sources);
    const parameters = findings.map((found) => ("parameters" in found ? found.parameters : null));
    expect(parameters).toEqual(signatures.map((signature) => signature.parameters));
  });

  test("are called with the types of their annotations, in the workspace of the team", async () => {
    const answer = await create("a", notes());
    expect(answer.status, await answer.clone().text()).toBe(201);
    expect(JSON.stringify(await answer.json())).toContain('"title":"Note"');
    expect(await run("a")).toBe("2");
    expect(await run("a")).toBe("THÉ 😀 ***\nRAIN *");
    expect(await run("a")).toBe("4\n");
    expect(await run("a")).toBe("invalid arguments: notes[0].text: is missing");
    expect(await run("a")).toBe("9007199254740993");
  });

  test("that contain mistakes create no team", async () => {
    const answer = await create("b", notes("def read(:\n    pass\n"));
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      errors: [{ path: expect.stringMatching(/tools\[1\]\.config\.source_code$/) }],
    });
    expect((await worker.fetch("/v1/teams/b")).status).toBe(404);
  });

  test("that import a package the sandbox lacks are noted, with package and remedy", async () => {
    const validate = async (source: string): Promise<unknown> => {
      const answer = await worker.fetch(
        "/v1/components/validate",
        jsonInit({ component: notes(source) }),
      );
      return answer.json();
    };
    const message = expect.stringMatching(/no Python package "pandas".*pip install.*TypeScript/);
    for (const source of [`import pandas\n${READ}`, `${READ}    import json, pandas\n`])
      expect(await validate(source)).toMatchObject({
        valid: true,
        notes: expect.arrayContaining([
          { path: expect.stringMatching(/tools\[1\]\.config\.source_code$/), message },
        ]),
      });
  });

  test("make no team either while there is no sandbox", async () => {
    await sandbox[Symbol.asyncDispose]();
    const answer = await create("c", notes());
    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ code: "sandbox_unavailable" });
    expect((await worker.fetch("/v1/teams/c")).status).toBe(404);
  });
});
