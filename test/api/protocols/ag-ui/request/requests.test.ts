import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { careful } from "../../../../../console/test/support/components.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { newTeam, runsOf, writer } from "../../support/teams.ts";

// Requests as other clients than the official one in JavaScript send them.

interface Event {
  type: string;
  [field: string]: unknown;
}

let model: FakeOpenAI;
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  model = await startFakeOpenAI({
    rules: [
      { name: "after tools", match: { role: "tool" }, reply: { content: "You are in Vienna." } },
      {
        name: "where",
        match: { user: "Where am I?" },
        reply: { tool_calls: [{ id: "call", name: "locate" }] },
      },
      {
        name: "thrift",
        match: { user: "Cheaply, please." },
        reply: {
          content: "Done.",
          usage: {
            prompt_tokens: 100,
            completion_tokens: 30,
            prompt_tokens_details: { cached_tokens: 64 },
            completion_tokens_details: { reasoning_tokens: 20 },
          },
        },
      },
    ],
  });
  const settings = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url };
  worker = await TestWorker.start(settings, { quietAbout: "request_refused" });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

beforeEach(() => {
  id = `team${++count}`;
});

async function post(body: object): Promise<Event[]> {
  const input = { threadId: "thread", runId: "run", ...body };
  const response = await worker.fetch(`/ag-ui/teams/${id}`, jsonInit(input));
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => JSON.parse(event.replace(/^data: /, "")) as Event);
}

function snapshotIn(events: readonly Event[]): unknown {
  return events.find(({ type }) => type === "MESSAGES_SNAPSHOT")?.["messages"];
}

const LOCATE = { name: "locate", description: "Says where the user is." };

test("messages without ids, as the .NET client sends them, are distinguished by their run", async () => {
  await newTeam(worker, { id, component: writer() });
  const messages = [{ role: "user", content: "Hello." }];
  await post({ messages });
  // The same request again starts nothing, and has ids in the conversation.
  const again = await post({ messages });
  expect(snapshotIn(again)).toMatchObject([
    { id: expect.any(String), role: "user", content: "Hello." },
    { id: expect.any(String), role: "assistant", name: "writer" },
  ]);
  expect(await runsOf(worker, id)).toHaveLength(1);
  const said = [...messages, { role: "assistant", content: "Hi." }, ...messages];
  const next = await post({ runId: "run2", threadId: "thread2", messages: said });
  expect(next.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("an answer comes with the conversation, whose messages without ids are not new", async () => {
  await newTeam(worker, { id, component: careful() });
  const messages = [{ role: "user", content: "Calculate." }];
  const asked = await post({ messages, protocolVersion: "1.0" });
  const { interrupts } = asked.at(-1)!["outcome"] as { interrupts: { id: string }[] };
  const resume = [
    { interruptId: interrupts[0]!.id, status: "resolved", payload: { approved: true } },
  ];
  const resumed = await post({ runId: "run2", threadId: "thread2", messages, resume });
  expect(resumed.map(({ type }) => type)).toContain("TOOL_CALL_RESULT");
  expect(resumed.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  expect(await runsOf(worker, id)).toHaveLength(1);
});

test("instructions beside a tool's result do not stop the run, and are named", async () => {
  await newTeam(worker, { id, component: writer({ max_tool_iterations: 2 }) });
  const asked = { id: "1", role: "user", content: "Where am I?" };
  const events = await post({ messages: [asked], tools: [LOCATE] });
  const toolCallId = events.find(({ type }) => type === "TOOL_CALL_START")?.["toolCallId"];
  const calling = { id: "2", role: "assistant" };
  const result = { id: "3", role: "tool", toolCallId, content: "Vienna" };
  const instructions = { id: "4", role: "system", content: "The page has a map." };
  const messages = [asked, calling, result, instructions];
  const [started, ...rest] = await post({ runId: "run2", messages, tools: [LOCATE] });
  expect(started).toMatchObject({ metadata: { troupe: { dropped: ["messages[3]"] } } });
  const said = rest.filter(({ type }) => type === "TEXT_MESSAGE_CONTENT");
  expect(said.map(({ delta }) => delta).join("")).toBe("You are in Vienna.");
  // Something that the user says has to wait.
  const spoken = { id: "5", role: "user", content: "Quick!" };
  const second = { ...asked, id: "6" };
  const waiting = await post({ runId: "run3", messages: [second], tools: [LOCATE] });
  const call = waiting.find(({ type }) => type === "TOOL_CALL_START")?.["toolCallId"];
  const both = [second, calling, { ...result, id: "7", toolCallId: call }, spoken];
  await expect(post({ runId: "run4", messages: both })).rejects.toThrow("team_busy");
});

test("a run names its predecessor and the parts of its tokens", async () => {
  await newTeam(worker, { id, component: writer() });
  const messages = [{ id: "1", role: "user", content: "Cheaply, please." }];
  const events = await post({ parentRunId: "run0", messages });
  expect(events[0]).toMatchObject({ type: "RUN_STARTED", runId: "run", parentRunId: "run0" });
  expect(events.at(-1)?.["usage"]).toEqual([
    {
      model: "gpt-4o-mini",
      inputTokens: 100,
      outputTokens: 30,
      totalTokens: 130,
      reasoningTokens: 20,
      cachedInputTokens: 64,
    },
  ]);
});

test("fields without a value may be null, as clients in Python send them", async () => {
  await newTeam(worker, { id, component: writer() });
  const none = { protocolVersion: null, parentRunId: null, resume: null, state: null, tools: null };
  const tools = [{ ...LOCATE, parameters: null }];
  const messages = [{ id: "1", role: "user", content: "Hello.", name: null }];
  const events = await post({ ...none, context: null, forwardedProps: null, tools, messages });
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  expect(snapshotIn(await post({ ...none, messages }))).toContainEqual({
    id: "1",
    role: "user",
    content: "Hello.",
  });
});

test("fields of parts of messages may be null, too", async () => {
  await newTeam(worker, { id, component: writer() });
  const source = { type: "data", value: "AAAA", mimeType: null };
  const content = [
    { type: "text", text: "Hello." },
    { type: "image", source, metadata: null },
    { type: "binary", mimeType: "video/mp4", id: "file", data: null, url: null, filename: null },
  ];
  const events = await post({ messages: [{ id: "1", role: "user", content }] });
  expect(events[0]).toMatchObject({
    metadata: { troupe: { dropped: ["messages[0].content[1]", "messages[0].content[2]"] } },
  });
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
});

test("an edited message needs an id of its own, and the error says so", async () => {
  await newTeam(worker, { id, component: writer() });
  await post({ messages: [{ id: "1", role: "user", content: "Hello." }] });
  const edited = { id: "1", role: "user", content: "Goodbye." };
  const input = { threadId: "thread", runId: "run2", messages: [edited] };
  const response = await worker.fetch(`/ag-ui/teams/${id}`, jsonInit(input));
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    code: "idempotency_mismatch",
    errors: [{ path: "messages[0].id", message: expect.stringContaining("a new id") }],
  });
});

const said = (...content: unknown[]) => ({ messages: [{ id: "1", role: "user", content }] });
const picture = (source: object) => ({ type: "image", source });

test.each([
  ["threadId", { threadId: 1, ...said() }, "must be a text, not a number"],
  ["messages[0].role", { messages: [{ role: "robot" }] }, 'must be "user", "system"'],
  ["messages[0].content[0].type", said({ type: "smell" }), 'must be "text", "image"'],
  ["messages[0].content[1].source", said({ type: "text", text: "" }, { type: "image" }), "missing"],
  ["messages[0].content[0].source.value", said(picture({ type: "data", value: 5 })), "a text"],
  [
    "messages[0].content[1]",
    said({ type: "video" }, picture({ type: "url", value: "http://10.0.0.1/a.png" })),
    "is not fetched",
  ],
  ["tools[0].name", { tools: [{ name: "a b" }], ...said() }, "letters, digits"],
  ["context[0].value", { context: [{ description: "x" }], ...said() }, "is missing"],
  ["resume[0].status", { resume: [{ interruptId: "x" }], ...said() }, '"resolved" or "cancelled"'],
  [
    "forwardedProps.troupe.on_conflict",
    { forwardedProps: { troupe: { on_conflict: "x" } }, ...said() },
    '"reject", "queue"',
  ],
])("the error of a wrong field names it: %s", async (path, body, allowed) => {
  await newTeam(worker, { id, component: writer() });
  const input = { threadId: "thread", runId: "run", ...body };
  const response = await worker.fetch(`/ag-ui/teams/${id}`, jsonInit(input));
  expect(response.status).toBe(422);
  const { errors } = (await response.json()) as { errors: { path: string; message: string }[] };
  expect(errors.map((error) => error.path)).toEqual([path]);
  expect(errors[0]?.message).toContain(allowed);
});
