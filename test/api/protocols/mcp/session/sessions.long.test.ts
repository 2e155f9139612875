import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { TestMcpServer } from "../../../../components/mcp/support/test-server.ts";
import { initialize, lastOf, messagesOf, post, request } from "../support/messages.ts";
import { HUMAN, inTurn, newTeam, runsOf } from "../../support/teams.ts";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start();
});

afterAll(() => worker[Symbol.asyncDispose]());

const call = (id: number, team: string, task = "Hello.") =>
  request(id, "tools/call", { name: `run_${team}`, arguments: { task, wait_seconds: 20 } });

describe("an MCP session", () => {
  test("finds the same run for a repeated request, and another session does not", async () => {
    await newTeam(worker, { id: "once", component: SAMPLE_COMPONENT });
    const [one, two] = [await initialize(worker), await initialize(worker)];
    expect(one).not.toBe(two);
    const run = async (session: string | undefined, id: number) => {
      const headers: Record<string, string> =
        session === undefined ? {} : { "mcp-session-id": session };
      const { result } = await lastOf(await post(worker, call(id, "once"), { headers }));
      return result?.structuredContent.run_id;
    };
    const first = await run(one, 1);
    expect(await run(one, 1)).toBe(first);
    const others = [
      await run(one, 2),
      await run(two, 1),
      await run(undefined, 1),
      await run(undefined, 1),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
    expect(await runsOf(worker, "once")).toHaveLength(5);
  });

  test("that has no forms gets no form", async () => {
    await newTeam(worker, { id: "plain", component: inTurn(HUMAN) });
    const session = await initialize(worker, { elicitation: { url: {} } });
    const response = await post(worker, call(1, "plain"), {
      headers: { "mcp-session-id": session },
    });
    const messages = [];
    for await (const message of messagesOf(response)) messages.push(message);
    expect(messages).toHaveLength(1);
    expect(messages[0]?.result?.structuredContent.status).toBe("waiting");
  });

  test("gets the form of an approval; the answer comes with a request of its own", async () => {
    await using tools = await TestMcpServer.start();
    const agent = {
      provider: "autogen_agentchat.agents.AssistantAgent",
      config: {
        name: "clerk",
        description: "Pays.",
        reflect_on_tool_use: false,
        tool_call_summary_format: "{result}",
        workbench: [
          {
            provider: "autogen_ext.tools.mcp.McpWorkbench",
            config: { server_params: tools.params, approval: "human" },
          },
        ],
        model_client: {
          provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
          config: {
            chat_completions: [
              {
                finish_reason: "function_calls",
                content: [{ id: "c", name: "pay", arguments: '{"amount": 5}' }],
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
    };
    const answers = [
      { team: "approves", result: { action: "accept", content: { approved: true } }, paid: true },
      {
        team: "refuses",
        result: { action: "accept", content: { approved: false, reason: "No." } },
      },
      { team: "declines", result: { action: "decline" } },
    ];
    for (const { team, result, paid = false } of answers) {
      await newTeam(worker, { id: team, component: inTurn(agent) });
      const headers = { "mcp-session-id": await initialize(worker, { elicitation: {} }) };
      let text = "";
      for await (const message of messagesOf(await post(worker, call(1, team), { headers }))) {
        if (message.method === "elicitation/create") {
          expect(message.params?.message).toContain('pay({"amount":5})');
          const taken = await post(worker, { jsonrpc: "2.0", id: message.id, result }, { headers });
          expect(taken.status).toBe(202);
        }
        if (message.result !== undefined) text = JSON.stringify(message.result);
      }
      expect(text).toContain('"status":"completed"');
      expect(text.includes("paid 5")).toBe(paid);
    }
  });

  test("gets errors of the protocol as JSON-RPC", async () => {
    const broken = await post(worker, "{");
    expect(broken.status).toBe(400);
    expect(await broken.json()).toMatchObject({ jsonrpc: "2.0", error: { code: -32_700 } });
    const unknown = await lastOf(await post(worker, request(1, "tools/call", { name: "nothing" })));
    expect(unknown.error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("tools/list"),
    });
    const method = await lastOf(await post(worker, request(1, "nothing/at-all")));
    expect(method.error?.code).toBe(-32_601);
    const cursor = await lastOf(await post(worker, request(1, "tools/list", { cursor: "x" })));
    expect(cursor.error).toMatchObject({
      code: -32_602,
      message: expect.stringContaining("nextCursor"),
    });
  });

  test("gets a refusal of a tool as its result, with the field", async () => {
    const wrong = request(1, "tools/call", { name: "run_once", arguments: { wait_seconds: -1 } });
    const { result } = await lastOf(await post(worker, wrong));
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/task: .*\n- wait_seconds: /) }],
      _meta: { "troupe/problem": { code: "invalid_arguments", status: 422 } },
    });
  });
});

test("each team has a tool, also of teams with one label", async () => {
  await using many = await TestWorker.start({ MCP_TEMPLATES: "none" });
  const teams = 20;
  for (let n = 0; n < 3; n++) await newTeam(many, { id: `t${n}`, label: "Same", component: HUMAN });
  await Promise.all(
    Array.from({ length: teams - 3 }, (_, n) =>
      newTeam(many, { id: `n${n}`, label: `No. ${n}`, component: HUMAN }),
    ),
  );
  const listed = await lastOf(await post(many, request(1, "tools/list")));
  const names = listed.result!.tools!.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toHaveLength(teams + 4);
  expect(names.filter((name) => name.startsWith("run_Same"))).toEqual([
    "run_Same",
    "run_Same_t1",
    "run_Same_t2",
  ]);
  const ask = request(1, "tools/call", { name: "run_Same_t1", arguments: { task: "Hello." } });
  const { result } = await lastOf(await post(many, ask));
  expect(result?.structuredContent).toMatchObject({ team_id: "t1", status: "waiting" });
});
