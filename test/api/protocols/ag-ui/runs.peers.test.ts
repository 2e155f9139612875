import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { discussion, speaker } from "../../../../console/test/support/components.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { newTeam, runsOf } from "../support/teams.ts";
import { EventSchema, type HttpAgent } from "../../../peers/ag-ui.ts";
import { agentOf, endOf, run, runIdOf, say } from "./support/agents.ts";
import { answering, calling, expression, withCalculator } from "./support/components.ts";

/** A picture of one pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  // Failed runs are logged.
  worker = await TestWorker.start({}, { logs: () => undefined });
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
});

interface Said {
  source: string;
  type: string;
  content: unknown;
}

/** The team's conversation. */
async function thread(): Promise<Said[]> {
  const response = await worker.fetch(`/v1/teams/${id}/messages`);
  return ((await response.json()) as { messages: Said[] }).messages;
}

/** The client's messages without what only shows the steps under way. */
function saidIn({ messages }: HttpAgent): HttpAgent["messages"] {
  return messages.filter(({ role }) => role !== "activity");
}

test("a run streams its text as an assistant message under the agent's name", async () => {
  await newTeam(worker, { id, component: speaker(["The lamp turns.", "It still turns."]) });
  const agent = await agentOf(worker, id);
  const first = await say(agent, "Hello.");
  expect(first.types).toEqual([
    "RUN_STARTED",
    "STATE_SNAPSHOT",
    "STEP_STARTED",
    "STATE_DELTA",
    "TEXT_MESSAGE_START",
    ...first.types.filter((type) => type === "TEXT_MESSAGE_CONTENT"),
    "TEXT_MESSAGE_END",
    "STEP_FINISHED",
    "STATE_DELTA",
    "RUN_FINISHED",
  ]);
  expect(first.types.filter((type) => type === "TEXT_MESSAGE_CONTENT").length).toBeGreaterThan(1);
  expect(first.events[0]).toMatchObject({
    threadId: agent.threadId,
    protocolVersion: "1.0",
    metadata: { troupe: { team_id: id, run_id: (await runsOf(worker, id))[0]?.id } },
  });
  expect(endOf(first)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  await say(agent, "And now?");
  expect(agent.messages).toMatchObject([
    { role: "user", content: "Hello." },
    { role: "assistant", name: "speaker", content: "The lamp turns." },
    { role: "user", content: "And now?" },
    { role: "assistant", name: "speaker", content: "It still turns." },
  ]);
  // The team was given each message once.
  expect((await thread()).map(({ content }) => content)).toEqual([
    "Hello.",
    "The lamp turns.",
    "And now?",
    "It still turns.",
  ]);
});

test("several agents speak in steps, and the run reports its usage", async () => {
  await newTeam(worker, { id, component: discussion("Round and round.", 0) });
  const agent = await agentOf(worker, id);
  const seen = await say(agent, "Discuss.");
  const steps = seen.events.flatMap((event) =>
    event.type === "STEP_STARTED" ? event.stepName : [],
  );
  expect(steps).toEqual(["first", "second", "first", "second"]);
  expect(agent.messages.slice(1).map((message) => "name" in message && message.name)).toEqual(
    steps,
  );
  expect(agent.state).toEqual({ troupe: { speaker: null } });
  const [usage] = endOf(seen).usage as { inputTokens: number; totalTokens: number }[];
  expect(usage?.totalTokens).toBeGreaterThan(usage?.inputTokens ?? 0);
});

test("parallel tool calls and their results belong together", async () => {
  const calls = calling(expression("1", "6 * 7"), expression("2", "1 / 0"));
  await newTeam(worker, { id, component: withCalculator(answering([calls]), "never") });
  const agent = await agentOf(worker, id);
  for (const content of ["Calculate.", "Again."]) {
    await say(agent, content);
    const asking = agent.messages.findLast(
      ({ role, ...own }) => role === "assistant" && "toolCalls" in own,
    );
    const [first, second] = (asking as { toolCalls: { id: string; function: object }[] }).toolCalls;
    expect(first?.function).toEqual({ name: "calculator", arguments: '{"expression":"6 * 7"}' });
    const results = agent.messages.filter(
      (message) => message.role === "tool" && [first?.id, second?.id].includes(message.toolCallId),
    );
    expect(results).toMatchObject([
      { content: "42" },
      { metadata: { troupe: { is_error: true } } },
    ]);
  }
});

test("pictures reach the team, and content that its models cannot see is named", async () => {
  await newTeam(worker, { id, component: answering(["A pixel."]) });
  const agent = await agentOf(worker, id);
  agent.messages.push({
    id: "picture",
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image", source: { type: "data", value: PIXEL, mimeType: "image/png" } },
      { type: "image", source: { type: "data", value: btoa("<svg/>"), mimeType: "image/svg+xml" } },
      { type: "audio", source: { type: "url", value: "https://example.com/a.mp3" } },
    ],
  });
  const seen = await run(agent);
  expect(seen.events[0]).toMatchObject({
    metadata: { troupe: { dropped: ["messages[0].content[2]", "messages[0].content[3]"] } },
  });
  expect((await thread())[0]).toMatchObject({
    type: "MultiModalMessage",
    content: ["What is this?", { data: PIXEL }],
  });
});

test("context comes before the message", async () => {
  await newTeam(worker, { id, component: speaker(["Vienna it is."]) });
  const agent = await agentOf(worker, id);
  await say(agent, "Where am I?", {
    context: [{ description: "The user's city", value: "Vienna" }],
  });
  expect(await thread()).toMatchObject([
    { source: "context", content: "The user's city: Vienna" },
    { source: "user", content: "Where am I?" },
    { source: "speaker", content: "Vienna it is." },
  ]);
});

test("a run that fails ends with its error", async () => {
  await newTeam(worker, { id, component: answering([]) });
  const agent = await agentOf(worker, id);
  const seen = await say(agent, "Hello.");
  expect(endOf(seen)).toMatchObject({ type: "RUN_ERROR", code: expect.any(String) });
  expect((endOf(seen).message as string).length).toBeGreaterThan(0);
});

test("a run that is stopped ends as cancelled", async () => {
  await newTeam(worker, { id, component: speaker(["One two three four five."], 400) });
  const agent = await agentOf(worker, id);
  agent.messages.push({ id: "1", role: "user", content: "Count." });
  let stopped: Promise<Response> | undefined;
  const seen = await run(
    agent,
    {},
    {
      onTextMessageContentEvent: async () => {
        const [active] = await runsOf(worker, id);
        const path = `/v1/teams/${id}/runs/${active?.id}/stop`;
        stopped ??= worker.fetch(path, jsonInit({ mode: "now" }));
        await stopped;
      },
    },
  );
  expect(endOf(seen)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "cancelled" } });
  expect(runIdOf(seen)).toBe((await runsOf(worker, id))[0]?.id);
  // What was being said is not in the log.
  expect(saidIn(agent)).toHaveLength(1);
});

test("a client that was cut off continues where it was, and has every message once", async () => {
  const text = "One two three four five six seven eight nine ten.";
  await newTeam(worker, { id, component: speaker(["Hello.", text], 100) });
  const agent = await agentOf(worker, id);
  await say(agent, "Greet.");
  agent.messages.push({ id: crypto.randomUUID(), role: "user", content: "Count." });
  await run(
    agent,
    {},
    {
      onTextMessageContentEvent: ({ textMessageBuffer }) => {
        if (textMessageBuffer.includes("two")) agent.abortRun();
      },
    },
  ).catch(() => undefined);
  const partial = agent.messages.at(-1);
  expect(partial).toMatchObject({ role: "assistant", content: expect.stringMatching(/^One two/) });
  expect(partial?.content).not.toContain("ten");
  const again = await run(agent);
  expect(again.types.slice(0, 2)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT"]);
  expect(saidIn(agent)).toMatchObject([
    { role: "user", content: "Greet." },
    { role: "assistant", content: "Hello." },
    { role: "user", content: "Count." },
    { role: "assistant", content: text },
  ]);
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("a repeated message starts nothing", async () => {
  await newTeam(worker, { id, component: speaker(["Once."]) });
  const first = await agentOf(worker, id, { threadId: "t" });
  first.messages.push({ id: "m", role: "user", content: "Say it." });
  await run(first);
  const second = await agentOf(worker, id, { threadId: "t" });
  second.messages.push({ id: "m", role: "user", content: "Say it." });
  const seen = await run(second);
  expect(second.messages).toEqual(first.messages);
  expect(endOf(seen)).toMatchObject({ outcome: { type: "success" } });
  expect(await runsOf(worker, id)).toHaveLength(1);
  // The same id of another thread is another message.
  const third = await agentOf(worker, id, { threadId: "u" });
  third.messages.push({ id: "m", role: "user", content: "Say it." });
  await run(third);
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("a client without messages gets the conversation", async () => {
  const calls = calling(expression("1", "6 * 7"));
  await newTeam(worker, { id, component: withCalculator(answering([calls]), "never") });
  const empty = await run(await agentOf(worker, id));
  expect(empty.types).toEqual([
    "RUN_STARTED",
    "MESSAGES_SNAPSHOT",
    "STATE_SNAPSHOT",
    "RUN_FINISHED",
  ]);
  const { threadId, ...agent } = await agentOf(worker, id).then(async (one) => {
    await say(one, "Calculate.");
    await say(one, "Again.");
    return one;
  });
  const same = await agentOf(worker, id, { threadId });
  const seen = await run(same);
  expect(seen.types).toEqual(empty.types);
  expect(same.messages).toEqual(agent.messages);
  // In another thread, messages of the user have the ids that the team gave them.
  const other = await agentOf(worker, id);
  await run(other);
  const texts = (messages: readonly { role: string; content?: unknown }[]): unknown[] =>
    messages.map(({ role, content }) => [role, content]);
  expect(texts(other.messages)).toEqual(texts(agent.messages));
  await run(other);
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("a client sees the messages that others have sent to the team since its last message", async () => {
  await newTeam(worker, { id, component: speaker(["One.", "Two.", "Three."]) });
  const agent = await agentOf(worker, id);
  await say(agent, "First.");
  const response = await worker.fetch(
    `/v1/teams/${id}/runs?wait=60`,
    jsonInit({ task: "Second." }),
  );
  expect(await response.json()).toMatchObject({ status: "completed" });
  await run(agent);
  const contents = ["First.", "One.", "Second.", "Two."];
  expect(agent.messages.map(({ content }) => content)).toEqual(contents);
  await say(agent, "Third.");
  expect((await thread()).map(({ content }) => content)).toEqual([...contents, "Third.", "Three."]);
});

test("messages that an earlier run received are not sent again", async () => {
  await newTeam(worker, { id, component: answering([]) });
  const agent = await agentOf(worker, id);
  await say(agent, "First.");
  await say(agent, "Second.");
  expect((await thread()).map(({ content }) => content)).toEqual(["First.", "Second."]);
});

test("a busy team queues the run on request", async () => {
  await newTeam(worker, { id, component: speaker(["One two three four."], 300) });
  const [first, second] = [await agentOf(worker, id), await agentOf(worker, id)];
  const running = say(first, "One.");
  await expect.poll(async () => (await runsOf(worker, id)).length).toBe(1);
  const forwardedProps = { troupe: { on_conflict: "queue" }, other: 1 };
  const queued = await say(second, "Two.", { forwardedProps });
  expect(queued.events).toContainEqual({
    type: "CUSTOM",
    name: "troupe.run",
    value: { status: "running" },
  });
  expect(endOf(queued)).toMatchObject({ outcome: { type: "success" } });
  expect(endOf(await running)).toMatchObject({ outcome: { type: "success" } });
});

test("the frames of Troupe's own stream are added on request", async () => {
  await newTeam(worker, { id, component: speaker(["Raw."]) });
  const seen = await say(await agentOf(worker, id), "Hello.", {
    forwardedProps: { troupe: { raw: true } },
  });
  const frames = seen.events.flatMap((event) =>
    event.type === "RAW" ? [(event.event as { event: string }).event] : [],
  );
  expect(frames[0]).toBe("run");
  expect(frames).toContain("caught_up");
  expect(frames.at(-1)).toBe("message");
});

test("another client than the official one gets events without nulls", async () => {
  await newTeam(worker, { id, component: speaker(["Plain."]) });
  const body = { threadId: "t", runId: "r", messages: [{ id: "1", role: "user", content: "Hi." }] };
  const response = await worker.fetch(`/ag-ui/teams/${id}`, jsonInit(body));
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events = (await response.text()).trimEnd().split("\n\n");
  for (const event of events) {
    expect(event).toMatch(/^data: \{[^\n]*\}$/);
    const parsed: unknown = JSON.parse(event.slice("data: ".length));
    expect(EventSchema.parse(parsed)).toEqual(parsed);
    expect(Object.values(parsed as object)).not.toContain(null);
  }
});
