import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { careful, speaker } from "../../../../console/test/support/components.ts";
import { TestWorker } from "../../../support/worker.ts";
import { HUMAN, inTurn, newTeam, runsOf } from "../support/teams.ts";
import { buildResumeArray, OldestHttpAgent, OldHttpAgent } from "../../../peers/ag-ui.ts";
import { agentOf, endOf, run, say } from "./support/agents.ts";
import { answering, calling, expression, withCalculator } from "./support/components.ts";

let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  worker = await TestWorker.start();
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
});

const LOCATE = {
  name: "locate",
  description: "Says where the user is.",
  parameters: { type: "object", properties: { precise: { type: "boolean" } } },
};

const located = (call: string) => ({ id: call, name: "locate", arguments: '{"precise":true}' });

test("a question to a human interrupts the run, and its answer lets it continue", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, speaker(["Lovely."])) });
  const agent = await agentOf(worker, id);
  const asked = await say(agent, "Ask.");
  expect(asked.types).toContain("CUSTOM");
  expect(agent.pendingInterrupts).toEqual([
    {
      id: expect.any(String),
      reason: "input_required",
      message: "Which city?",
      responseSchema: expect.objectContaining({ required: ["content"] }),
      metadata: { troupe: { source: "human" } },
    },
  ]);
  const [interrupt] = agent.pendingInterrupts;
  const resume = buildResumeArray(agent.pendingInterrupts, {
    [interrupt!.id]: { status: "resolved", payload: { content: "Lisbon" } },
  });
  const resumed = await run(agent, { resume });
  expect(endOf(resumed)).toMatchObject({ outcome: { type: "success" } });
  expect(agent.pendingInterrupts).toEqual([]);
  expect(agent.messages).toMatchObject([
    { role: "user", content: "Ask." },
    { role: "user", name: "human", content: "Lisbon" },
    { role: "assistant", name: "speaker", content: "Lovely." },
  ]);
  // The same answers again find the run as it is.
  const again = await run(agent, { resume });
  expect(endOf(again)).toMatchObject({ outcome: { type: "success" } });
  expect(await runsOf(worker, id)).toHaveLength(1);
});

test("a question that is abandoned cancels the run", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN) });
  const agent = await agentOf(worker, id);
  await say(agent, "Ask.");
  const [interrupt] = agent.pendingInterrupts;
  const resume = [{ interruptId: interrupt!.id, status: "cancelled" as const }];
  expect(endOf(await run(agent, { resume }))).toMatchObject({ outcome: { type: "cancelled" } });
  expect(await runsOf(worker, id)).toMatchObject([{ status: "cancelled" }]);
});

test("an approval is of its tool call, whose arguments can be edited", async () => {
  await newTeam(worker, { id, component: careful() });
  const agent = await agentOf(worker, id);
  const asked = await say(agent, "Calculate.");
  const [interrupt] = agent.pendingInterrupts;
  const start = asked.events.find(({ type }) => type === "TOOL_CALL_START");
  expect(interrupt).toMatchObject({
    reason: "tool_call",
    toolCallId: start?.toolCallId,
    responseSchema: { properties: { editedArgs: { properties: { expression: {} } } } },
  });
  const payload = { approved: true, editedArgs: { expression: "6 * 8" } };
  const resume = [{ interruptId: interrupt!.id, status: "resolved" as const, payload }];
  const resumed = await run(agent, { resume });
  expect(resumed.types).not.toContain("TOOL_CALL_START");
  expect(resumed.events).toContainEqual(
    expect.objectContaining({
      type: "TOOL_CALL_RESULT",
      toolCallId: start?.toolCallId,
      content: expect.stringMatching(/48$/),
    }),
  );
  // Each request reports its own calls.
  expect(endOf(asked).usage).toBeDefined();
  expect(endOf(resumed).usage).toBeUndefined();
});

test.each([
  ["refused", { status: "resolved" as const, payload: { approved: false, reason: "Too risky." } }],
  ["answered with a boolean", { status: "resolved" as const, payload: false }],
  ["abandoned", { status: "cancelled" as const }],
])("an approval that is %s does not make the call", async (_, answer) => {
  await newTeam(worker, { id, component: careful() });
  const agent = await agentOf(worker, id);
  await say(agent, "Calculate.");
  const [interrupt] = agent.pendingInterrupts;
  const resumed = await run(agent, { resume: [{ interruptId: interrupt!.id, ...answer }] });
  expect(endOf(resumed)).toMatchObject({ outcome: { type: "success" } });
  const result = resumed.events.find(({ type }) => type === "TOOL_CALL_RESULT");
  expect(result).toMatchObject({ metadata: { troupe: { is_error: true } } });
});

test("several approvals are answered together", async () => {
  const calls = calling(expression("1", "6 * 7"), expression("2", "6 * 8"));
  await newTeam(worker, { id, component: withCalculator(answering([calls]), "human") });
  const agent = await agentOf(worker, id);
  await say(agent, "Calculate.");
  expect(agent.pendingInterrupts).toHaveLength(2);
  const [first, second] = agent.pendingInterrupts;
  const yes = { status: "resolved" as const, payload: { approved: true } };
  // The client does not let it through.
  const partial = { resume: [{ interruptId: first!.id, ...yes }] };
  const url = `/ag-ui/teams/${id}`;
  const { messages, threadId } = agent;
  const response = await worker.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ threadId, runId: "partial", messages, ...partial }),
  });
  expect(response.status).toBe(422);
  expect(await response.json()).toMatchObject({
    errors: [{ path: "resume", message: expect.stringContaining(second!.id) }],
  });
  const resume = [first, second].map((one) => ({ interruptId: one!.id, ...yes }));
  const resumed = await run(agent, { resume });
  const results = resumed.events.filter(({ type }) => type === "TOOL_CALL_RESULT");
  expect(results).toMatchObject([{ content: "42" }, { content: "48" }]);
});

test("the client's tools are called by the agents and answered by the client", async () => {
  const component = answering([calling(located("1"), located("2")), "You are in Vienna."]);
  await newTeam(worker, { id, component });
  const agent = await agentOf(worker, id);
  const asked = await say(agent, "Where am I?", { tools: [LOCATE] });
  const pending = asked.events.flatMap((event) =>
    event.type === "TOOL_CALL_START" ? [event.toolCallId as string] : [],
  );
  expect(pending).toHaveLength(2);
  expect(endOf(asked)).toMatchObject({
    outcome: { type: "success", pendingToolCallIds: pending },
  });
  agent.messages.push(
    { id: "r1", role: "tool", toolCallId: pending[0]!, content: "Vienna" },
    { id: "r2", role: "tool", toolCallId: pending[1]!, content: "", error: "no signal" },
  );
  const answered = await run(agent, { tools: [LOCATE] });
  expect(answered.types).not.toContain("TOOL_CALL_RESULT");
  expect(agent.messages).toMatchObject([
    { role: "user" },
    { role: "assistant", toolCalls: [{ id: pending[0] }, { id: pending[1] }] },
    { id: "r1", content: "Vienna" },
    { id: "r2", error: "no signal" },
    { role: "assistant", content: "You are in Vienna." },
  ]);
  const response = await worker.fetch(`/v1/teams/${id}/messages`);
  const { messages } = (await response.json()) as { messages: { type: string }[] };
  expect(messages.find(({ type }) => type === "ToolCallExecutionEvent")).toMatchObject({
    content: [
      { call_id: "1", content: "Vienna", is_error: false },
      { call_id: "2", content: "no signal", is_error: true },
    ],
  });
  await say(agent, "Once more?", { tools: [LOCATE] });
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("a client before 1.0, as CopilotKit has it, calls its tools and learns that a run was cancelled", async () => {
  const component = answering([calling(located("1"), located("2")), "You are in Vienna."]);
  await newTeam(worker, { id, component });
  const url = new URL(`/ag-ui/teams/${id}`, await worker.origin);
  const agent = new OldHttpAgent({ url: url.href });
  const errors: string[] = [];
  agent.subscribe({
    onRunErrorEvent: ({ event }) => void errors.push(event.code ?? ""),
    onRunFailed: ({ error }) => void errors.push(error.message),
  });
  agent.messages.push({ id: "1", role: "user", content: "Where am I?" });
  const { newMessages } = await agent.runAgent({ tools: [LOCATE] });
  const calls = newMessages.flatMap((one) =>
    one.role === "assistant" ? (one.toolCalls ?? []) : [],
  );
  expect(calls.map((call) => call.function.name)).toEqual(["locate", "locate"]);
  for (const [index, call] of calls.entries()) {
    agent.messages.push({ id: `r${index}`, role: "tool", toolCallId: call.id, content: "Vienna" });
  }
  await agent.runAgent({ tools: [LOCATE] });
  expect(agent.messages.at(-1)).toMatchObject({ content: "You are in Vienna." });
  expect(errors).toEqual([]);

  await newTeam(worker, { id: `${id}b`, component: inTurn(HUMAN) });
  const other = new OldHttpAgent({ url: new URL(`/ag-ui/teams/${id}b`, url).href });
  other.subscribe({ onRunErrorEvent: ({ event }) => void errors.push(event.code ?? "") });
  other.messages.push({ id: "1", role: "user", content: "Ask." });
  await other.runAgent();
  const [interrupt] = other.pendingInterrupts;
  const resume = [{ interruptId: interrupt!.id, status: "cancelled" as const }];
  await other.runAgent({ resume }).catch(() => undefined);
  expect(errors).toEqual(["run_cancelled"]);
});

test("a client of 0.0.35 sees a question, and its user's next message is the answer", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, speaker(["Lovely."])) });
  const url = new URL(`/ag-ui/teams/${id}`, await worker.origin);
  const agent = new OldestHttpAgent({ url: url.href });
  const texts = () => agent.messages.map(({ role, content }) => `${role}: ${content}`);
  const old = { forwardedProps: { troupe: { interrupts: false } } };
  agent.messages.push({ id: "1", role: "user", content: "Ask." });
  await agent.runAgent(old);
  expect(texts()).toEqual(["user: Ask.", "assistant: Which city?"]);
  agent.messages.push({ id: "2", role: "user", content: "Lisbon" });
  await agent.runAgent(old);
  expect(texts()).toEqual(["user: Ask.", "user: Lisbon", "assistant: Lovely."]);
  agent.messages.push({ id: "3", role: "user", content: "Once more." });
  await agent.runAgent(old);
  expect(texts().at(-1)).toBe("assistant: Which city?");
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("a client of 1.0 without forms gets questions as texts alone, if it asks for that", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, speaker(["Lovely."])) });
  const agent = await agentOf(worker, id);
  const texts = { forwardedProps: { troupe: { interrupts: false } } };
  const asked = await say(agent, "Ask.", texts);
  expect(endOf(asked)).toMatchObject({ outcome: { type: "success" } });
  expect(agent.pendingInterrupts).toEqual([]);
  expect(agent.messages.at(-1)).toMatchObject({ role: "assistant", content: "Which city?" });
  await say(agent, "Lisbon", texts);
  expect(agent.messages.at(-1)).toMatchObject({ content: "Lovely." });
  expect(await runsOf(worker, id)).toHaveLength(1);
});

test("a client of 0.0.59 has a question once, as an interrupt, and answers it with its form", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, speaker(["Lovely."])) });
  const url = new URL(`/ag-ui/teams/${id}`, await worker.origin);
  const agent = new OldHttpAgent({ url: url.href });
  agent.messages.push({ id: "1", role: "user", content: "Ask." });
  await agent.runAgent();
  expect(agent.messages.map(({ content }) => content)).toEqual(["Ask."]);
  const [interrupt] = agent.pendingInterrupts;
  expect(interrupt).toMatchObject({ message: "Which city?" });
  const payload = { content: "Lisbon" };
  await agent.runAgent({ resume: [{ interruptId: interrupt!.id, status: "resolved", payload }] });
  expect(agent.messages.map(({ role, content }) => [role, content])).toEqual([
    ["user", "Ask."],
    ["user", "Lisbon"],
    ["assistant", "Lovely."],
  ]);
});

test("a part of the client's results leaves the other calls pending", async () => {
  const component = answering([calling(located("1"), located("2")), "You are in Vienna."]);
  await newTeam(worker, { id, component });
  const agent = await agentOf(worker, id);
  const asked = await say(agent, "Where am I?", { tools: [LOCATE] });
  const { pendingToolCallIds: pending } = endOf(asked).outcome as {
    pendingToolCallIds: string[];
  };
  agent.messages.push({ id: "r1", role: "tool", toolCallId: pending[0]!, content: "Vienna" });
  const first = await run(agent);
  expect(endOf(first)).toMatchObject({ outcome: { pendingToolCallIds: [pending[1]] } });
  agent.messages.push({ id: "r2", role: "tool", toolCallId: pending[1]!, content: "Vienna" });
  expect(endOf(await run(agent))).toMatchObject({ outcome: { type: "success" } });
  expect(agent.messages.at(-1)).toMatchObject({ content: "You are in Vienna." });
});

test("a page that was loaded again is asked the same question", async () => {
  await newTeam(worker, { id, component: careful() });
  const before = await agentOf(worker, id);
  await say(before, "Calculate.");
  const agent = await agentOf(worker, id, { threadId: before.threadId });
  await run(agent);
  expect(agent.pendingInterrupts).toEqual(before.pendingInterrupts);
  expect(agent.messages).toEqual(before.messages);
  const [interrupt] = agent.pendingInterrupts;
  const resume = [{ interruptId: interrupt!.id, status: "resolved" as const, payload: true }];
  await run(agent, { resume });
  expect(agent.messages.find(({ role }) => role === "tool")).toMatchObject({ content: "42" });
});
