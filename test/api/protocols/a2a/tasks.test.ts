import { Role, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { agent, SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { conversationsOf, HUMAN, inTurn, newTeam, runsOf, writer } from "../support/teams.ts";
import {
  answerText,
  artifactsOf,
  clientOf,
  collect,
  dataPart,
  message,
  part,
  send,
  sending,
  stateOf,
  textOf,
  textPart,
} from "./support/client.ts";

const PICTURE = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;

let openai: FakeOpenAI;
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "slow", match: { any: "slowly" }, hold: true, reply: { content: "At last." } },
      { name: "fail", match: { any: "break" }, fault: { kind: "status", status: 400 } },
      { name: "write", reply: { content: "Four little words here." }, pace_ms: 20 },
    ],
  });
  worker = await TestWorker.start({ OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: openai.url });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(() => {
  id = `team${++count}`;
});

/** The states that a stream tells, repeated ones left out. */
function statesOf(events: readonly NonNullable<StreamResponse["payload"]>[]): string[] {
  const states = events.flatMap((event) =>
    event.$case === "task" || event.$case === "statusUpdate" ? [stateOf(event.value)] : [],
  );
  return states.filter((state, index) => state !== states[index - 1]);
}

/** The messages of a stream's status updates. */
function said(events: readonly NonNullable<StreamResponse["payload"]>[]): string[] {
  return events.flatMap((event) => {
    if (event.$case !== "statusUpdate" || event.value.status?.message === undefined) return [];
    const { parts, metadata } = event.value.status.message;
    return [`${metadata?.["troupe/source"]}: ${textOf(parts)}`];
  });
}

test("a message starts a task, whose artifact is the team's last message", async () => {
  await newTeam(worker, { id, label: "News desk", component: SAMPLE_COMPONENT });
  const client = await clientOf(worker, id);
  const sent = message("Hello.");
  const task = await send(client, sent, {}, { project: "x" });
  expect(task).toMatchObject({
    contextId: expect.stringMatching(/^a2a-/),
    status: { state: TaskState.TASK_STATE_COMPLETED },
    metadata: { project: "x", "troupe/status": "completed" },
  });
  expect(answerText(task)).toBe("two");
  expect(task.artifacts).toHaveLength(1);
  expect(task.history.map(({ parts }) => textOf(parts))).toEqual(["Hello.", "one", "one"]);
  expect(task.history[0]!.messageId).toBe(sent.messageId);
  expect(await client.getTask({ tenant: "", id: task.id })).toEqual(task);
  const short = await client.getTask({ tenant: "", id: task.id, historyLength: 1 });
  expect(short.history.map(({ parts }) => textOf(parts))).toEqual(["one"]);
  const next = await send(client, message("More.", { contextId: task.contextId }));
  expect(next.id).not.toBe(task.id);
  expect(answerText(next)).toBe("three");
});

test("a repeated message finds the same task", async () => {
  await newTeam(worker, { id, component: SAMPLE_COMPONENT });
  const client = await clientOf(worker, id);
  const sent = message("Hello.");
  const tasks = [await send(client, sent), await send(client, sent)];
  const again = await collect(client.sendMessageStream(sending(sent)));
  expect(tasks[1]!.id).toBe(tasks[0]!.id);
  expect(again[0]).toMatchObject({ $case: "task", value: { id: tasks[0]!.id } });
  expect(statesOf(again)).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
  expect(textOf(artifactsOf(again).get("answer"))).toBe("two");
  expect(await runsOf(worker, tasks[0]!.contextId)).toHaveLength(1);
  const { messageId } = sent;
  const { contextId } = tasks[0]!;
  const other = message("Something else.", { messageId });
  // Without a context it is another message, which begins another conversation.
  expect((await send(client, other)).contextId).not.toBe(contextId);
  const within = [message("One.", { contextId }), message("Two.", { contextId })];
  within[1]!.messageId = within[0]!.messageId;
  await send(client, within[0]!);
  await expect(send(client, within[1]!)).rejects.toThrow(
    /^message\.messageId was used for another/,
  );
});

test("a stream carries texts in progress, then messages, then the answer", async () => {
  const critic = agent("critic");
  await newTeam(worker, { id, component: inTurn(writer(), critic, writer({ name: "editor" })) });
  const client = await clientOf(worker, id);
  const events = await collect(client.sendMessageStream(sending("Write.")));
  expect(events[0]).toMatchObject({
    $case: "task",
    value: { contextId: expect.stringMatching(/^a2a-/) },
  });
  expect(statesOf(events)).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
  expect(said(events)).toEqual(["writer: Four little words here.", "critic: one"]);
  const updates = events.flatMap((event) =>
    event.$case === "artifactUpdate" ? [event.value] : [],
  );
  expect(updates.length).toBeGreaterThan(6);
  expect(updates.filter(({ append }) => !append).map(({ artifact }) => artifact?.name)).toEqual([
    "writer",
    "critic",
    "editor",
  ]);
  expect(updates.filter(({ lastChunk }) => lastChunk)).toEqual([updates.at(-1)]);
  expect(textOf(artifactsOf(events).get("answer"))).toBe("Four little words here.");
  const task = await client.getTask({ tenant: "", id: updates[0]!.taskId });
  expect(answerText(task)).toBe("Four little words here.");
});

test("a task asks its client, and continues with the answer", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, writer()) });
  const client = await clientOf(worker, id);
  const asked = await send(client, "Ask.");
  expect(asked.status).toMatchObject({
    state: TaskState.TASK_STATE_INPUT_REQUIRED,
    message: {
      parts: [
        { content: { $case: "text", value: "Which city?" } },
        { content: { $case: "data", value: { kind: "input", source: "human" } } },
      ],
    },
  });
  const answered = await send(
    client,
    message("Lisbon", { taskId: asked.id, contextId: asked.contextId }),
  );
  expect(answered.id).toBe(asked.id);
  expect(stateOf(answered)).toBe("TASK_STATE_COMPLETED");
  expect(answerText(answered)).toBe("Four little words here.");
  expect(answered.history.map(({ role, parts }) => [role, textOf(parts)])).toEqual([
    [1, "Ask."],
    [1, "Lisbon"],
  ]);
});

test("a task that asks a question has the messages before it in its history", async () => {
  const boss = { ...HUMAN, config: { ...HUMAN.config, name: "boss" } };
  const component = inTurn(writer(), HUMAN, writer({ name: "editor" }), boss);
  await newTeam(worker, { id, component });
  const client = await clientOf(worker, id);
  const first = await send(client, "Ask.");
  const historyOf = ({ history }: Task) => history.map(({ role, parts }) => [role, textOf(parts)]);
  const before = [
    [Role.ROLE_USER, "Ask."],
    [Role.ROLE_AGENT, "Four little words here."],
  ];
  expect([historyOf(first), first.artifacts]).toEqual([before, []]);
  const { id: taskId } = first;
  const second = await send(client, message("Lisbon", { taskId }));
  expect(historyOf(second)).toEqual([...before, [Role.ROLE_USER, "Lisbon"], before[1]]);
  expect(historyOf(await client.getTask({ tenant: "", id: taskId, historyLength: 1 }))).toEqual([
    before[1],
  ]);
  expect(historyOf(await client.getTask({ tenant: "", id: taskId, historyLength: 0 }))).toEqual([]);
  await client.cancelTask({ tenant: "", id: taskId, metadata: undefined });
});

test("a stream ends with the question, and the answer's stream continues from there", async () => {
  await newTeam(worker, { id, component: inTurn(writer(), HUMAN, writer({ name: "editor" })) });
  const client = await clientOf(worker, id);
  const first = await collect(client.sendMessageStream(sending("Ask.")));
  expect(statesOf(first)).toEqual(["TASK_STATE_WORKING", "TASK_STATE_INPUT_REQUIRED"]);
  expect(said(first)[0]).toBe("writer: Four little words here.");
  const [task] = first;
  if (task?.$case !== "task") throw new Error("no task");
  const subscribed = client.resubscribeTask({ tenant: "", id: task.value.id });
  const waiting: NonNullable<StreamResponse["payload"]>[] = [];
  while (waiting.length < 2 || statesOf(waiting).at(-1) !== "TASK_STATE_INPUT_REQUIRED") {
    waiting.push((await subscribed.next()).value!.payload!);
  }
  expect(waiting[0]).toMatchObject({ $case: "task", value: { id: task.value.id } });
  const second = await collect(
    client.sendMessageStream(sending(message("Lisbon", { taskId: task.value.id }))),
  );
  expect(second[0]).toMatchObject({ $case: "task", value: { id: task.value.id } });
  expect(statesOf(second)).toEqual(["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"]);
  expect(textOf(artifactsOf(second).get("answer"))).toBe("Four little words here.");
  expect(said(second)).toEqual([]);
  // A subscriber sees what follows from the answer.
  const through = [...waiting, ...(await collect(subscribed))];
  expect(statesOf(through).slice(-3)).toEqual([
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_WORKING",
    "TASK_STATE_COMPLETED",
  ]);
  expect(textOf(artifactsOf(through).get("answer"))).toBe("Four little words here.");
});

test("pictures and data are accepted, other files are refused", async () => {
  await newTeam(worker, { id, component: inTurn(writer()) });
  const client = await clientOf(worker, id);
  const raw = part({ $case: "raw", value: Buffer.from(PICTURE, "base64") }, "image/png");
  const sent = message([textPart("What is this?"), raw, dataPart({ size: 1 })]);
  const task = await send(client, sent);
  expect(stateOf(task)).toBe("TASK_STATE_COMPLETED");
  const { content } = (openai.requests.at(-1)!.body as { messages: unknown[] }).messages.at(-1) as {
    content: object[];
  };
  expect(content).toMatchObject([
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url: `data:image/png;base64,${PICTURE}` } },
    { type: "text", text: '{"size":1}' },
  ]);
  expect(task.history[0]!.parts[1]).toMatchObject({
    content: { $case: "raw", value: Buffer.from(PICTURE, "base64") },
    mediaType: "image/png",
  });
  for (const refused of [
    part({ $case: "raw", value: Buffer.from("%PDF") }, "application/pdf"),
    part({ $case: "raw", value: Buffer.from("PK") }, "application/zip"),
  ]) {
    await expect(send(client, message([refused]))).rejects.toMatchObject({
      name: "ContentTypeNotSupportedError",
    });
  }
  expect(await conversationsOf(worker, id)).toHaveLength(1);
});

test("a task continues without its client, who comes back or cancels it", async () => {
  await newTeam(worker, { id, component: inTurn(writer()) });
  const client = await clientOf(worker, id);
  openai.rules.hold("slow");
  const task = await send(client, "Write slowly.", { returnImmediately: true });
  expect(["TASK_STATE_WORKING", "TASK_STATE_SUBMITTED"]).toContain(stateOf(task));
  const { contextId } = task;
  const more = message("Write slowly.", { contextId });
  const queued = await send(client, more, { returnImmediately: true });
  expect(stateOf(queued)).toBe("TASK_STATE_SUBMITTED");
  const cancelled = await client.cancelTask({ tenant: "", id: queued.id, metadata: undefined });
  expect(stateOf(cancelled)).toBe("TASK_STATE_CANCELED");
  const again = await client.cancelTask({ tenant: "", id: queued.id, metadata: undefined });
  expect(stateOf(again)).toBe("TASK_STATE_CANCELED");
  const following = client.resubscribeTask({ tenant: "", id: task.id });
  const first = await following.next();
  openai.release("slow");
  const events = [first.value!.payload!, ...(await collect(following))];
  expect(events[0]).toMatchObject({ $case: "task", value: { id: task.id } });
  expect(statesOf(events).at(-1)).toBe("TASK_STATE_COMPLETED");
  expect(textOf(artifactsOf(events).get("answer"))).toBe("At last.");
  await expect(collect(client.resubscribeTask({ tenant: "", id: task.id }))).rejects.toMatchObject({
    name: "UnsupportedOperationError",
  });
  await expect(
    client.cancelTask({ tenant: "", id: task.id, metadata: undefined }),
  ).rejects.toMatchObject({ name: "TaskNotCancelableError" });
});

test("a failed task contains the reason", async () => {
  await newTeam(worker, { id, component: inTurn(writer()) });
  const client = await clientOf(worker, id);
  const events = await collect(client.sendMessageStream(sending("Please break.")));
  const last = events.at(-1);
  expect(last).toMatchObject({
    $case: "statusUpdate",
    value: { status: { state: TaskState.TASK_STATE_FAILED } },
  });
  const [task] = events;
  if (last?.$case !== "statusUpdate" || task?.$case !== "task") throw new Error("no status");
  const { status } = await client.getTask({ tenant: "", id: task.value.id });
  expect(status?.state).toBe(TaskState.TASK_STATE_FAILED);
  expect(textOf(status?.message?.parts)).not.toBe("");
  expect(textOf(last.value.status?.message?.parts)).toContain("400");
});

test("tasks are listed by state, page by page", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, agent("writer")) });
  const client = await clientOf(worker, id);
  const list = (given: object) =>
    client.listTasks({
      tenant: "",
      contextId: "",
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: "",
      statusTimestampAfter: undefined,
      ...given,
    });
  const done: string[] = [];
  for (const city of ["Lisbon", "Porto"]) {
    const { id: taskId } = await send(client, "Ask.");
    done.unshift((await send(client, message(city, { taskId }))).id);
  }
  const { id: open } = await send(client, "Ask.");
  const all = await list({});
  expect(all.tasks.map((task) => task.id)).toEqual([open, ...done]);
  expect(all).toMatchObject({ nextPageToken: "", pageSize: 3, totalSize: 3 });
  expect(all.tasks[1]).toMatchObject({ artifacts: [], history: [] });
  const waiting = await list({ status: TaskState.TASK_STATE_INPUT_REQUIRED });
  expect(waiting.tasks.map((task) => task.id)).toEqual([open]);
  const first = await list({ pageSize: 2, includeArtifacts: true });
  expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
  expect(answerText(first.tasks[1]!)).not.toBe("");
  const second = await list({ pageSize: 2, pageToken: first.nextPageToken });
  expect(second.tasks.map((task) => task.id)).toEqual([done[1]]);
  expect(second).toMatchObject({ nextPageToken: "", totalSize: 3 });
  expect((await list({ contextId: "another" })).tasks).toEqual([]);
  expect((await list({ statusTimestampAfter: "2100-01-01T00:00:00Z" })).tasks).toEqual([]);
});
