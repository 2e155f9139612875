// Requests in the form in which chat programs and editors send them.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "troupe";
import { jsonInit } from "../../../support/http-app.ts";
import { newTeam, writer } from "../support/teams.ts";
import { runsOf, type Stage, startStage } from "./support/stage.ts";

const ANSWER = "Four little words here.";
const PROGRAM = "app://obsidian.md";

let stage: Stage;

beforeAll(async () => {
  stage = await startStage({ ALLOWED_ORIGINS: `${PROGRAM}, chrome-extension://abcdefghijklmnop` });
});

afterAll(() => stage[Symbol.asyncDispose]());

interface Completion {
  choices: { message: { content: string } }[];
  troupe: { team_id: string };
  error?: { message: string };
}

async function complete(
  body: JsonObject,
  { path = "", headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<{ status: number; body: Completion }> {
  const url = `/openai/v1/chat/completions${path}`;
  const response = await stage.worker.fetch(url, jsonInit(body, "POST", headers));
  return { status: response.status, body: (await response.json()) as Completion };
}

let teams = 0;

async function freshTeam(): Promise<string> {
  const id = `program-${++teams}`;
  await newTeam(stage.worker, { id, component: writer() });
  return id;
}

/** The tasks of a team's runs, the oldest first, as texts of their messages; null is a run without a task. */
async function tasksOf(team: string): Promise<(unknown[] | null)[]> {
  const runs = await runsOf(stage.worker, team);
  return runs.map(({ task }) => task?.map(({ content }) => content) ?? null).toReversed();
}

const user = (content: unknown): JsonObject => ({ role: "user", content: content as string });
const assistant = (content: unknown): JsonObject => ({
  role: "assistant",
  content: content as string,
});
const TOOL = {
  name: "read_file",
  description: "Reads a file.",
  parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
};

describe("requests of other programs", () => {
  test.each<[program: string, body: JsonObject]>([
    ["Open WebUI", { stream: false, messages: [user("Hello"), assistant("")] }],
    [
      "LibreChat",
      {
        messages: [
          { role: "system", content: "Be kind." },
          user([{ type: "text", text: "Hello" }]),
        ],
        user: "65f0c0ffee",
        temperature: 1,
        top_p: 1,
        presence_penalty: 0,
        frequency_penalty: 0,
      },
    ],
    [
      "LobeChat",
      {
        messages: [user("Hello"), assistant(null)],
        temperature: 0.6,
        frequency_penalty: 0,
        presence_penalty: 0,
        top_p: 1,
        stream: false,
        plugins: [],
      },
    ],
    ["Continue", { messages: [user("Hello"), assistant([])], max_tokens: 4096, stop: [] }],
    [
      "Cline",
      {
        messages: [
          { role: "system", content: "You are Cline." },
          user([
            { type: "text", text: "Hello" },
            { type: "text", text: "<environment_details/>" },
          ]),
        ],
        temperature: 0,
        max_tokens: null,
        reasoning_effort: null,
      },
    ],
    [
      "Cursor",
      {
        input: [
          { role: "system", content: "You are a coding agent." },
          { role: "user", content: [{ type: "input_text", text: "Hello" }] },
        ],
        tools: [{ type: "function", ...TOOL, strict: false }],
        tool_choice: "auto",
        store: false,
        include: ["reasoning.encrypted_content"],
        reasoning: { effort: "medium", summary: "auto" },
        text: { verbosity: "medium" },
      },
    ],
    ["Cursor, a text", { input: "Hello", instructions: "Be brief." }],
    [
      "Zed",
      {
        messages: [user("Hello")],
        stop: [],
        temperature: 1,
        parallel_tool_calls: false,
        prompt_cache_key: "thread-1",
        tools: [{ type: "function", function: TOOL }],
      },
    ],
    [
      "n8n",
      { messages: [user("Hello")], n: 1, top_p: 1, timeout: 60_000, max_retries: 2, tools: [] },
    ],
    [
      "Dify",
      { messages: [user("Hello"), assistant(" \n")], stop: [], user: "abc-123", top_p: 0.9 },
    ],
  ])("that contain %s get an answer", async (_program, body) => {
    for (const model of [`team:${await freshTeam()}`, "template:tools_assistant"]) {
      const { status, body: completion } = await complete({ model, ...body });
      expect(completion).toMatchObject({ choices: [{ message: { content: ANSWER } }] });
      expect(status).toBe(200);
    }
  });

  test("need an input in one of the two forms", async () => {
    const { status, body } = await complete({ model: `team:${await freshTeam()}` });
    expect(status).toBe(400);
    expect(body.error?.message).toContain("messages is missing");
  });

  test("may have query parameters that gateways add, here alone", async () => {
    const body = { model: `team:${await freshTeam()}`, messages: [user("Hello")] };
    const path = "?api-version=2024-10-21&beta=true&beta=1&key=";
    expect((await complete(body, { path })).status).toBe(200);
    expect((await stage.worker.fetch("/openai/v1/models?limit=5&x[]=1")).status).toBe(200);
    expect((await stage.worker.fetch("/v1/templates?x=1")).status).toBe(422);
    // Those that the API knows are checked.
    const wrong = await stage.worker.fetch("/openai/v1/responses/resp_a.b?stream=perhaps");
    expect(wrong.status).toBe(400);
  });

  test("may have histories with calls of hosted tools in responses", async () => {
    const team = await freshTeam();
    const { output_text: answer } = await stage.openai.responses.create({
      model: `team:${team}`,
      input: [
        user("Which is the newest?"),
        { type: "mcp_list_tools", id: "mcpl_1", server_label: "docs", tools: [] },
        { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search" } },
        { type: "code_interpreter_call", id: "ci_1", code: "1", outputs: [], container_id: "c" },
        { type: "computer_call_output", call_id: "c", output: { type: "computer_screenshot" } },
        { type: "message", role: "assistant", content: null },
        user("And before?"),
      ] as never,
    });
    expect(answer).toBe(ANSWER);
    expect(await tasksOf(team)).toEqual([["And before?"]]);
    const invalid = { type: "function_call", name: "f" };
    await expect(
      stage.openai.responses.create({ model: `team:${team}`, input: [invalid] as never }),
    ).rejects.toMatchObject({ status: 400 });
  });
});

describe("an answer at the end of a request", () => {
  test("is continued without a task where it is the team's last answer", async () => {
    const team = await freshTeam();
    const model = `team:${team}`;
    await complete({ model, messages: [user("Begin.")] });
    const more = await complete({ model, messages: [user("Begin."), assistant(`${ANSWER}\n`)] });
    expect(more.body.choices[0]?.message.content).toBe(ANSWER);
    expect(await tasksOf(team)).toEqual([["Begin."], null]);
    const input = [user("Begin."), assistant(ANSWER)] as never;
    expect((await stage.openai.responses.create({ model, input })).output_text).toBe(ANSWER);
    expect(await tasksOf(team)).toEqual([["Begin."], null, null]);
  });

  test("brings its history if the team has another last answer", async () => {
    const team = await freshTeam();
    const model = `team:${team}`;
    const messages = [user("Begin."), assistant("Once upon")];
    expect((await complete({ model, messages })).status).toBe(200);
    expect(await tasksOf(team)).toEqual([["Begin.", "Once upon"]]);
  });

  test("continues in the team of a named chat, which keeps the chat", async () => {
    const model = "template:tools_assistant";
    const headers = { "x-openwebui-chat-id": "a chat that continues" };
    const first = await complete({ model, messages: [user("Begin.")] }, { headers });
    const team = first.body.troupe.team_id;
    const open = [user("Begin."), assistant(ANSWER)];
    const more = await complete({ model, messages: open }, { headers });
    expect(more.body.troupe.team_id).toBe(team);
    // Open WebUI adds the continuation to the message.
    const merged = [user("Begin."), assistant(`${ANSWER} ${ANSWER}`), user("Go on.")];
    const next = await complete({ model, messages: merged }, { headers });
    expect(next.body.troupe.team_id).toBe(team);
    expect(await tasksOf(team)).toEqual([["Begin."], null, ["Go on."]]);
  });
});

describe("programs with an origin of their own", () => {
  const ask = (origin: string, preflight?: string): Promise<Response> =>
    stage.worker.fetch("/openai/v1/models", {
      method: preflight === undefined ? "GET" : "OPTIONS",
      headers: {
        origin,
        "sec-fetch-site": "cross-site",
        ...(preflight !== undefined && { "access-control-request-method": preflight }),
      },
    });

  test.each([PROGRAM, "chrome-extension://abcdefghijklmnop"])(
    "are accepted if ALLOWED_ORIGINS names %s",
    async (origin) => {
      const response = await ask(origin);
      expect(response.status).toBe(200);
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      const preflight = await ask(origin, "POST");
      expect(preflight.status).toBe(204);
      expect(preflight.headers.get("access-control-allow-origin")).toBe(origin);
    },
  );

  test.each(["chrome-extension://other", "tauri://localhost", "https://evil.example"])(
    "are refused with the setting that admits %s",
    async (origin) => {
      const response = await ask(origin);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain(`ALLOWED_ORIGINS=${origin}`);
    },
  );

  test("are refused without advice if they are pages without an origin", async () => {
    const response = await ask("null");
    expect(response.status).toBe(403);
    expect(await response.text()).not.toContain("ALLOWED_ORIGINS");
  });
});
