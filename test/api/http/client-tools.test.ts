import { afterAll, beforeAll, expect, test } from "vitest";
import { AssistantAgent, dumpComponent, ReplayChatCompletionClient } from "troupe";
import { ApiError, type RunInfo, type TeamClient, TroupeClient } from "troupe/client";
import { TestWorker } from "../../support/worker.ts";

const TOOLS = [{ name: "locate", parameters: { type: "object", properties: {} } }];
const USAGE = { prompt_tokens: 0, completion_tokens: 0 };

let worker: TestWorker;
let client: TroupeClient;
beforeAll(async () => {
  worker = await TestWorker.start({ TROUPE_OPEN: "1" });
  client = new TroupeClient({ baseURL: await worker.origin });
});
afterAll(() => worker[Symbol.asyncDispose]());

/** An agent whose model calls the client's tool so often at once, or with this place, and then says where the user is. */
async function guide(calls: number, place?: string): Promise<TeamClient> {
  const content = Array.from({ length: calls }, (_, index) => ({
    id: `call-${index}`,
    name: "locate",
    arguments: `{"place": ${place ?? index}}`,
  }));
  const modelClient = new ReplayChatCompletionClient(
    [{ finish_reason: "function_calls", content, usage: USAGE, cached: false }, "You are there."],
    {
      modelInfo: {
        vision: false,
        functionCalling: true,
        jsonOutput: false,
        structuredOutput: false,
        family: "unknown",
      },
    },
  );
  const component = dumpComponent(new AssistantAgent({ name: "guide", modelClient }));
  return client.teams.create({ component });
}

/** The run once it waits or has ended. */
async function settled(team: TeamClient, id: string): Promise<RunInfo> {
  await expect.poll(async () => (await team.getRun(id)).status).not.toBe("running");
  return team.getRun(id);
}

test("a run waits for the results of its client's tools, one request per call", async () => {
  const team = await guide(2);
  const { id } = await team.start("Where am I?", { tools: TOOLS });
  const waiting = await settled(team, id);
  expect(waiting.status).toBe("waiting");
  expect(waiting.requests.map(({ kind, tool_call }) => [kind, tool_call])).toEqual([
    [
      "tool",
      {
        name: "locate",
        arguments: { place: 0 },
        call_id: "call-0",
        parameters: TOOLS[0]?.parameters,
      },
    ],
    [
      "tool",
      {
        name: "locate",
        arguments: { place: 1 },
        call_id: "call-1",
        parameters: TOOLS[0]?.parameters,
      },
    ],
  ]);
  await expect
    .poll(async () => (await client.requests.list({ kind: "tool" })).requests)
    .toMatchObject([{ run_id: id }, { run_id: id }]);

  const [first, second] = waiting.requests.map((request) => request.id) as [string, string];
  const mistake = team.answer(id, first, { approved: true });
  await expect(mistake).rejects.toMatchObject({ status: 422, code: "invalid_answer" });
  await team.answer(id, second, { content: "Graz", is_error: true });
  expect((await settled(team, id)).requests.map((request) => request.id)).toEqual([first]);
  await team.answer(id, first, { content: "Vienna" });
  const done = await settled(team, id);
  expect(done.status).toBe("completed");
  expect(
    done.result?.messages.map((message) => [message.type, "content" in message && message.content]),
  ).toEqual([
    ["TextMessage", "Where am I?"],
    ["ToolCallRequestEvent", expect.anything()],
    [
      "ToolCallExecutionEvent",
      [
        { content: "Vienna", name: "locate", call_id: "call-0", is_error: false },
        { content: "Graz", name: "locate", call_id: "call-1", is_error: true },
      ],
    ],
    ["TextMessage", "You are there."],
  ]);
});

test("a call of the client's tools in a run without them is an error that the model reads", async () => {
  const team = await guide(1);
  const { id } = await team.start("Where am I?");
  const { result } = await settled(team, id);
  expect(JSON.stringify(result?.messages)).toContain("tool 'locate' not found");
});

test.each<[string, (team: string) => string, object, string]>([
  [
    "AG-UI",
    (team) => `/ag-ui/teams/${team}`,
    { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: "Where?" }] },
    String.raw`"delta":"{\"place\": 9007199254740993}"`,
  ],
  [
    "the AI SDK, whose clients have only JavaScript's numbers,",
    (team) => `/ai-sdk/teams/${team}/chat`,
    { id: "c", messages: [{ id: "1", role: "user", parts: [{ type: "text", text: "Where?" }] }] },
    '"input":{"place":"9007199254740993"}',
  ],
])("a call keeps all digits of its integers in a stream of %s", async (_, path, body, shown) => {
  const team = await guide(1, "9007199254740993");
  const tools = [
    { name: "locate", description: "", parameters: { type: "object", properties: { place: {} } } },
  ];
  const response = await worker.fetch(path(team.id), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body, tools }),
  });
  const sent = await response.text();
  expect(sent).toContain(shown);
  expect(sent).not.toContain("9007199254740992");
});

test("a retry has the tools of the run it repeats", async () => {
  const team = await guide(1);
  const { id } = await team.start("Where am I?", { tools: TOOLS });
  await settled(team, id);
  await team.stop(id, "now");
  const retry = await team.retry(id);
  const { requests } = await settled(team, retry.id);
  await team.answer(retry.id, requests[0]?.id ?? "", { content: "Vienna" });
  expect((await settled(team, retry.id)).status).toBe("completed");
});

test.each([
  [[{ name: "a b" }], "tools[0].name"],
  [[{ name: "a" }, { name: "a" }], "tools[1].name"],
  [[{ name: "a", parameters: "none" }], "tools[0].parameters"],
  [[{ name: "a", description: "x".repeat(10_001) }], "tools[0].description"],
  [[{ name: "a", surprise: 1 }], "tools[0].surprise"],
  [Array.from({ length: 129 }, (_, index) => ({ name: `t${index}` })), "tools"],
  [[{ name: "a", parameters: { type: "object", description: "x".repeat(600_000) } }], "tools"],
])("invalid tools are refused with their place (%#)", async (tools, path) => {
  const team = await guide(1);
  const refused = team.start("Where am I?", { tools: tools as typeof TOOLS });
  const error = await refused.catch((reason: unknown) => reason as ApiError);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).problem.errors?.map((issue) => issue.path)).toContain(path);
  expect((await team.runs()).runs).toEqual([]);
});
