import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { TroupeClient } from "#client/index.ts";
import { assistant, functionTool, roundRobin } from "../../chaos/scenarios/components.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { PATIENCE } from "../../support/patience.ts";
import { BOARD_COMPONENT } from "../../support/sample-component.ts";
import { TestWorker } from "../../support/worker.ts";
import { HUMAN, speaker } from "../support/teams.ts";
import { newSession, prompt, startEditor, textOf } from "./support/editor.ts";

const ALLOW = { outcome: "selected", optionId: "allow" } as const;
const REJECT = { outcome: "selected", optionId: "reject" } as const;

const BEGINNING = "I'll help you with that. Let me read the project first.";
const MIDDLE = "Now I understand the project. It needs a change.";
const CHANGED = "The configuration is updated.";
const SKIPPED = "I skip the change.";

let model: FakeOpenAI;
let worker: TestWorker;
let url: string;
let client: TroupeClient;

beforeAll(async () => {
  const call = (expression: string, content: string) => ({
    content,
    tool_calls: [{ id: `call-${expression}`, name: "calculator", arguments: { expression } }],
  });
  model = await startFakeOpenAI({
    rules: [
      { name: "slow", match: { user: "slowly" }, hold: true, reply: { content: "Late." } },
      { name: "changed", match: { role: "tool", text: "42" }, reply: { content: CHANGED } },
      {
        name: "skipped",
        match: { role: "tool", text: "not approved" },
        reply: { content: SKIPPED },
      },
      { name: "read", match: { role: "tool", text: "2" }, reply: call("6*7", MIDDLE) },
      { name: "begin", match: { user: "improve" }, reply: call("1+1", BEGINNING) },
    ],
  });
  worker = await TestWorker.start({ SECRETS_KEY: btoa("k".repeat(32)) });
  url = await worker.origin;
  client = new TroupeClient({ baseURL: url });
  const tools = [
    functionTool("calculator", { approval: { when: [{ argument: "expression", matches: "^6" }] } }),
  ];
  const coder = assistant({ model: model.url }, "coder", {
    tools,
    max_tool_iterations: 5,
    model_client_stream: true,
  });
  await client.teams.create({ id: "coder", component: roundRobin([coder], 1) });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await model.close();
});

/** The updates of a turn without their texts, each kind that follows itself once. */
function outline(updates: readonly { sessionUpdate: string; status?: unknown }[]): string[] {
  const lines = updates.map(({ sessionUpdate, status }) =>
    typeof status === "string" ? `${sessionUpdate} ${status}` : sessionUpdate,
  );
  return lines.filter((line, index) => line !== lines[index - 1] && !line.endsWith("in_progress"));
}

test("an editor follows a turn with texts, calls of tools and a permission", async () => {
  await using editor = await startEditor(url, "coder", { permit: () => ALLOW });
  const session = await newSession(editor);
  expect(await prompt(editor, session, "Please improve it.")).toEqual({ stopReason: "end_turn" });
  const { updates, asked } = editor;
  // As in the transcript of the protocol's example agent.
  expect(outline(updates)).toEqual([
    "agent_message_chunk",
    "tool_call pending",
    "tool_call_update completed",
    "agent_message_chunk",
    "tool_call pending",
    "tool_call_update completed",
    "agent_message_chunk",
  ]);
  expect(textOf(updates, "agent_message_chunk")).toBe(BEGINNING + MIDDLE + CHANGED);
  expect(asked).toMatchObject([
    {
      sessionId: session,
      toolCall: { toolCallId: "call-6*7", title: "calculator", rawInput: { expression: "6*7" } },
      options: [
        { optionId: "allow", kind: "allow_once" },
        { optionId: "reject", kind: "reject_once" },
      ],
    },
  ]);
});

test("a call that the user rejects is not made", async () => {
  await using editor = await startEditor(url, "coder", { permit: () => REJECT });
  const session = await newSession(editor);
  expect(await prompt(editor, session, "Please improve it.")).toEqual({ stopReason: "end_turn" });
  expect(textOf(editor.updates, "agent_message_chunk")).toBe(BEGINNING + MIDDLE + SKIPPED);
});

test("each session is a conversation of its own, which another editor loads", async () => {
  await client.teams.create({
    id: "greeter",
    component: speaker(["Good morning.", "Good evening."]),
  });
  let first: string;
  {
    await using editor = await startEditor(url, "greeter");
    first = await newSession(editor);
    await prompt(editor, first, "Hello");
    const second = await newSession(editor);
    expect(second).not.toBe(first);
    await prompt(editor, second, "Hello");
    expect(textOf(editor.updates, "agent_message_chunk")).toBe("Good morning.Good morning.");
  }
  await using editor = await startEditor(url, "greeter");
  const load = (sessionId: string) =>
    editor.connection.agent.request("session/load", { sessionId, cwd: "/", mcpServers: [] });
  await load(first);
  expect(textOf(editor.updates, "user_message_chunk")).toBe("Hello");
  expect(textOf(editor.updates, "agent_message_chunk")).toBe("Good morning.");
  await prompt(editor, first, "And now?");
  expect(textOf(editor.updates, "agent_message_chunk")).toBe("Good morning.Good evening.");
  await expect(load("coder")).rejects.toMatchObject({ code: -32002 });
  expect((await client.team("greeter").messages()).messages).toEqual([]);
});

test("a prompt is cancelled, also while it waits for a permission", async () => {
  await using editor = await startEditor(url, "coder");
  const session = await newSession(editor);
  const answer = prompt(editor, session, "Please improve it.");
  await vi.waitUntil(() => editor.asked.length === 1, PATIENCE);
  await editor.connection.agent.notify("session/cancel", { sessionId: session });
  expect(await answer).toEqual({ stopReason: "cancelled" });
  expect(await client.team(session).get()).toMatchObject({ status: "idle" });
});

test("a prompt during a run is a message into the run", async () => {
  model.rules.hold("slow");
  await using editor = await startEditor(url, "coder");
  const session = await newSession(editor);
  const first = prompt(editor, session, "Answer slowly.");
  await vi.waitUntil(async () => (await client.team(session).get()).status === "running", PATIENCE);
  const second = prompt(editor, session, "Still slowly.");
  await vi.waitUntil(async () => {
    const { messages } = await client.team(session).messages();
    return messages.some(({ metadata }) => metadata["steering"] === "true");
  }, PATIENCE);
  model.release("slow");
  expect(await second).toEqual({ stopReason: "end_turn" });
  await first;
  expect((await client.team(session).runs()).runs).toHaveLength(1);
});

test("the next prompt answers a question of a team, unless the editor shows forms", async () => {
  const component = roundRobin([{ ...HUMAN, component_type: "agent" } as never], 1);
  await client.teams.create({ id: "asking", component });
  {
    await using editor = await startEditor(url, "asking");
    const session = await newSession(editor);
    expect(await prompt(editor, session, "Ask me.")).toEqual({ stopReason: "end_turn" });
    expect(textOf(editor.updates, "agent_message_chunk")).not.toBe("");
    expect(await prompt(editor, session, "My answer")).toEqual({ stopReason: "end_turn" });
    const { messages } = await client.team(session).messages();
    expect(messages.at(-1)).toMatchObject({ source: "human", content: "My answer" });
  }
  await using editor = await startEditor(url, "asking", {
    fill: () => ({ action: "accept", content: { answer: "Of the form" } }),
  });
  const session = await newSession(editor);
  expect(await prompt(editor, session, "Ask me.")).toEqual({ stopReason: "end_turn" });
  const { messages } = await client.team(session).messages();
  expect(messages.at(-1)).toMatchObject({ source: "human", content: "Of the form" });
});

test("the tasks of a team's board are the plan", async () => {
  await client.teams.create({ id: "board", component: BOARD_COMPONENT });
  await using editor = await startEditor(url, "board");
  const session = await newSession(editor);
  await client.team(session).tasks.add({ title: "Buy food" });
  await prompt(editor, session, "Begin.");
  expect(editor.updates.findLast(({ sessionUpdate }) => sessionUpdate === "plan")).toMatchObject({
    entries: [{ content: "Buy food", priority: "medium", status: "pending" }],
  });
});

test("a team that does not exist is an error before the protocol begins", async () => {
  await expect(startEditor(url, "missing")).rejects.toThrow();
});
