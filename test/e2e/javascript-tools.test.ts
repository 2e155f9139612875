// Tools and blocks of JavaScript in dynamic Workers, over HTTP, without a sandbox.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

interface Answer {
  status: number;
  errors?: { path: string; message: string }[];
  notes?: { path: string; message: string }[];
  result?: { messages: { type: string; content: unknown }[] };
}

let worker: TestWorker;

beforeAll(async () => {
  const keys = ["acme", "other"].map(async (tenant) => ({
    hash: await sha256Hex(`${tenant}-key`),
    tenant,
    name: "shop",
    scopes: SCOPES,
  }));
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify(await Promise.all(keys)),
    },
    { loader: true },
  );
});

afterAll(() => worker[Symbol.asyncDispose]());

async function ask(path: string, body: unknown, tenant = "acme"): Promise<Answer> {
  const headers = { authorization: `Bearer ${tenant}-key` };
  const response = await worker.fetch(path, jsonInit(body, "POST", headers));
  return { ...((await response.json()) as object), status: response.status };
}

/** A tool of which the price is a tenth more for each thing. */
const tool = (more: object = {}) => ({
  provider: "troupe.tools.JavaScriptTool",
  config: {
    name: "price",
    description: "The price of some things.",
    parameters: {
      type: "object",
      properties: {
        things: { type: "integer", minimum: 1 },
        unit: { type: "string", default: "EUR" },
      },
      required: ["things"],
    },
    source_code: `let calls = 0;
export default async function ({ things, unit }, { run }) {
  calls++;
  if (things > 100) throw new RangeError("we do not have " + things);
  return { price: things * 1.5, unit, calls, user: run.user, tenant: run.tenant };
}`,
    ...more,
  },
});

const assistant = (tools: object[], args: object = { things: 2 }) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "seller",
    description: "Sells things.",
    reflect_on_tool_use: false,
    tool_call_summary_format: "{result}",
    tools,
    model_client: {
      provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
      config: {
        chat_completions: [
          {
            finish_reason: "function_calls",
            content: [{ id: "c", name: "price", arguments: JSON.stringify(args) }],
            usage: { prompt_tokens: 1, completion_tokens: 1 },
            cached: false,
          },
        ],
        cycle: true,
        model_info: {
          vision: false,
          function_calling: true,
          json_output: false,
          structured_output: false,
          family: "unknown",
        },
      },
    },
  },
});

/** The last message of a run of a new team. */
async function said(
  component: object,
  { tenant, task = "go", user }: { tenant?: string; task?: string; user?: string } = {},
) {
  const id = `t-${crypto.randomUUID().slice(0, 8)}`;
  const made = await ask("/v1/teams", { id, component }, tenant);
  expect(made, JSON.stringify(made)).toMatchObject({ status: 201 });
  const run = await ask(`/v1/teams/${id}/runs?wait=30`, { task, ...(user && { user }) }, tenant);
  return run.result?.messages.at(-1)?.content;
}

describe("A JavaScriptTool", () => {
  test("is called with checked arguments, defaults and the run", async () => {
    const answer = await said(assistant([tool()]), { user: "ada" });
    expect(JSON.parse(answer as string)).toEqual({
      price: 3,
      unit: "EUR",
      calls: 1,
      user: "ada",
      tenant: "acme",
    });
  });

  test("shares its globals with no other tenant", async () => {
    const counted = tool({
      source_code: "let calls = 0;\nexport default () => `call ${++calls}`;",
    });
    expect(await said(assistant([counted]))).toBe("call 1");
    expect(await said(assistant([counted]))).toBe("call 2");
    expect(await said(assistant([counted]), { tenant: "other" })).toBe("call 1");
  });

  test("gives the model the invalid argument, and what the function threw", async () => {
    expect(await said(assistant([tool()], { things: 0 }))).toBe(
      "invalid arguments for price: things: must be at least 1",
    );
    expect(await said(assistant([tool()], { things: 101 }))).toBe("RangeError: we do not have 101");
  });

  test.for([
    [
      { source_code: "export default 3;" },
      "config.source_code",
      "must export a function as its default",
    ],
    [{ source_code: "export default function (" }, "config.source_code", "SyntaxError"],
    [
      { source_code: 'import x from "left-pad";\nexport default x;' },
      "config.source_code",
      'No such module "left-pad"',
    ],
    [{ source_code: " " }, "config.source_code", "must be the source of a module"],
    [
      { parameters: { type: "array" } },
      "config.parameters",
      'must be a JSON Schema of "type": "object"',
    ],
    [{ timeout: 301 }, "config.timeout", "300"],
    [{ name: "the price" }, "config.name", "letters, digits"],
    [{ description: undefined }, "config.description", ""],
  ] as const)("is refused with %j", async ([more, path, message]) => {
    const { status, errors } = await ask("/v1/teams", { component: assistant([tool(more)]) });
    expect(status).toBe(422);
    expect(errors).toEqual([
      {
        path: `component.config.tools[0].${path}`,
        message: expect.stringContaining(message) as string,
      },
    ]);
  });

  test("has a note that says where it runs", async () => {
    const { notes } = await ask("/v1/teams", { component: assistant([tool()]) });
    expect(notes).toContainEqual({
      path: "component.config.tools[0].config.source_code",
      message: "runs in a dynamic Worker of this server, without network and without files",
    });
  });
});

test("The tool of docs/javascript-tools.md works", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/javascript-tools.md"), "utf8");
  const [, json = ""] = /^```json javascript-tool\n(.*?)^```/ms.exec(page) ?? [];
  const component = assistant([JSON.parse(json) as object], { pieces: 10 });
  expect(JSON.parse((await said(component, { user: "ada" })) as string)).toEqual({
    price: 36,
    currency: "EUR",
    customer: "ada",
  });
});

describe("A CodeExecutorAgent without a sandbox", () => {
  const runner = (languages: string[]) => ({
    provider: "autogen_agentchat.agents.CodeExecutorAgent",
    config: {
      name: "runner",
      supported_languages: languages,
      code_executor: {
        provider: "autogen_ext.code_executors.local.LocalCommandLineCodeExecutor",
        config: { timeout: 20 },
      },
    },
  });
  const fenced = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;

  test("runs JavaScript", async () => {
    const task = fenced("javascript", "console.log([1, 2, 3].reduce((sum, n) => sum + n));");
    expect(await said(runner(["javascript"]), { task })).toBe("6\n");
  });

  test("says which setting Python needs", async () => {
    const task = fenced("python", "print(1)");
    expect(await said(runner(["python"]), { task })).toMatch(
      /runs JavaScript only.*SANDBOX_URL and CODE/,
    );
  });

  test("has a note about the other languages", async () => {
    const { notes } = await ask("/v1/teams", { component: runner(["javascript"]) });
    expect(notes).toContainEqual({
      path: "component.config.code_executor.provider",
      message: expect.stringMatching(/^only JavaScript runs here/) as string,
    });
  });
});

test("Health checks name the loader", async () => {
  const response = await worker.fetch("/healthz");
  expect(await response.json()).toMatchObject({ status: "ok", code: "loader" });
});
