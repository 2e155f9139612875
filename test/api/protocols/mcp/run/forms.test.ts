import { afterAll, beforeAll, expect, test } from "vitest";
import { TestMcpServer } from "../../../../components/mcp/support/test-server.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { inTurn, newTeam } from "../../support/teams.ts";
import { CLIENTS, connect, type Filled, type Form } from "../support/clients.ts";
import { ask, type Task } from "../support/tasks.ts";

// A tool of a team asks for a color: what its server sent as a form comes to the client as this form.

let server: TestMcpServer;
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  server = await TestMcpServer.start();
  worker = await TestWorker.start();
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** A team whose only agent calls a tool that asks for a color, this often. @param approved the calls of one turn, which are to be approved */
async function newAsker(calls = 1, approved = 0): Promise<void> {
  id = `asker${++count}`;
  const call = {
    finish_reason: "function_calls",
    content: Array.from({ length: Math.max(1, approved) }, (_, n) => ({
      id: `c${n}`,
      name: "confirm",
      arguments: "{}",
    })),
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  };
  const clerk = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name: "clerk",
      description: "Uses the tool.",
      reflect_on_tool_use: false,
      max_tool_iterations: calls,
      tool_call_summary_format: "{result}",
      workbench: [
        {
          provider: "autogen_ext.tools.mcp.McpWorkbench",
          config: {
            server_params: server.params,
            ...(approved > 0 && { approval: "human" }),
            host: {
              provider: "autogen_ext.tools.mcp.McpSessionHost",
              component_type: "mcp_session_host",
              config: {
                elicitor: {
                  provider: "autogen_ext.tools.mcp.StdioElicitor",
                  component_type: "mcp_elicitor",
                  config: {},
                },
              },
            },
          },
        },
      ],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        component_type: "model",
        config: {
          chat_completions: Array.from({ length: calls }, () => call),
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
  };
  await newTeam(worker, { id, component: inTurn(clerk) });
}

const COLORS = {
  message: "Which color?",
  requestedSchema: {
    type: "object",
    properties: { color: { type: "string", enum: ["red", "blue"] } },
    required: ["color"],
  },
};

test.each(CLIENTS)("a client of %s shows the form of a tool's server", async (name) => {
  await newAsker();
  const forms: Form[] = [];
  const run = async (filled: Filled): Promise<string | null | undefined> => {
    await using client = await connect(name, {
      url: new URL("/mcp", await worker.origin),
      fill: (form) => {
        forms.push(form);
        return filled;
      },
    });
    const call = { name: `run_${id}`, arguments: { task: "Ask." } };
    return (await client.call(call)).structuredContent?.text;
  };
  const text = await run({ action: "accept", content: { color: "blue" } });
  expect(text).toBe('{"action":"accept","content":{"color":"blue"}}');
  expect(forms).toEqual([expect.objectContaining(COLORS)]);
  await newAsker();
  expect(await run({ action: "decline" })).toBe('{"action":"decline"}');
});

test("a form with an invalid answer is shown again, with the reason", async () => {
  await newAsker();
  const forms: Form[] = [];
  await using client = await connect("2026-07-28", {
    url: new URL("/mcp", await worker.origin),
    fill: (form) => {
      forms.push(form);
      const color = forms.length === 1 ? "green" : "red";
      return { action: "accept", content: { color } };
    },
  });
  const result = await client.call({ name: `run_${id}`, arguments: { task: "Ask." } });
  expect(result.structuredContent?.text).toBe('{"action":"accept","content":{"color":"red"}}');
  expect(forms).toHaveLength(2);
  expect(forms[1]?.message).toMatch(/The last answer was not used: .*\nWhich color\?/);
});

test("a task has the form, and so has the run in the API", async () => {
  await newAsker();
  const { result } = await ask(worker, "tools/call", {
    name: `run_${id}`,
    arguments: { task: "Ask." },
  });
  const { taskId } = result!;
  let task: Task | undefined;
  await expect
    .poll(async () => {
      task = (await ask(worker, "tasks/get", { taskId })).result;
      return task?.status;
    })
    .toBe("input_required");
  const [[key, { params }] = ["", { params: undefined }]] = Object.entries(task!.inputRequests!);
  expect(params).toMatchObject(COLORS);
  const response = await worker.fetch(`/v1/teams/${taskId.replace("/", "/runs/")}`);
  const { requests } = (await response.json()) as { requests: { form: object }[] };
  expect(requests).toMatchObject([
    { form: { message: "Which color?", schema: COLORS.requestedSchema } },
  ]);
  const listed = await worker.fetch("/v1/requests");
  expect(JSON.stringify(await listed.json())).toContain('"enum":["red","blue"]');
  const inputResponses = { [key]: { action: "accept", content: { color: "red" } } };
  await ask(worker, "tasks/update", { taskId, inputResponses });
  await expect
    .poll(
      async () => (await ask(worker, "tasks/get", { taskId })).result?.result?.structuredContent,
    )
    .toMatchObject({ text: '{"action":"accept","content":{"color":"red"}}' });
});

test("each round has another state, which belongs to the tool that gave it", async () => {
  await newAsker(2);
  const name = `run_${id}`;
  const sent = { capabilities: { elicitation: { form: {} } } };
  const round = async (params: object) => {
    const all = { name, arguments: { task: "Ask.", wait_seconds: 30 }, ...params };
    const { result, error } = await ask(worker, "tools/call", all, sent);
    const { requestState, inputRequests } = (result ?? {}) as Task & { requestState?: string };
    return { requestState, keys: Object.keys(inputRequests ?? {}), result, error };
  };
  const red = { action: "accept", content: { color: "red" } };
  const first = await round({});
  const again = await round({ requestState: first.requestState, inputResponses: {} });
  expect([again.requestState, again.keys]).toEqual([first.requestState, first.keys]);
  const inputResponses = { [first.keys[0]!]: red, other: red };
  const second = await round({ requestState: first.requestState, inputResponses });
  expect(second.keys).toHaveLength(1);
  expect(second.requestState).not.toBe(first.requestState);
  await newAsker();
  const elsewhere = await round({ name: `run_${id}`, requestState: second.requestState });
  expect(elsewhere.error).toMatchObject({
    code: -32_602,
    data: { reason: "invalid_request_state" },
  });
  const last = await round({
    requestState: second.requestState,
    inputResponses: { [second.keys[0]!]: red },
  });
  expect(last.result?.structuredContent?.status).toBe("completed");
});

test("an answer that is not waited for asks nothing else", async () => {
  await newAsker(1, 2);
  const sent = { capabilities: { elicitation: { form: {} } } };
  const started = await ask(worker, "tools/call", {
    name: `run_${id}`,
    arguments: { task: "Ask.", wait_seconds: 0 },
  });
  const run = started.result!.taskId.split("/")[1];
  const place = { team_id: id, run_id: run };
  const look = async () => {
    const response = await worker.fetch(`/v1/teams/${id}/runs/${run}/requests`);
    return ((await response.json()) as { requests: { id: string }[] }).requests;
  };
  await expect.poll(async () => (await look()).length).toBe(2);
  const [first, second] = await look();
  const answer = async (request_id: string | undefined) => {
    const given = { ...place, request_id, approved: false, wait_seconds: 0 };
    const params = { name: "answer_request", arguments: given };
    return (await ask(worker, "tools/call", params, sent)).result!;
  };
  const answered = await answer(first?.id);
  expect(answered).not.toHaveProperty("inputRequests");
  expect(answered.structuredContent).toMatchObject({
    status: "waiting",
    requests: [{ id: second?.id }],
  });
  expect((await answer(second?.id)).structuredContent).toMatchObject({ run_id: run });
});
