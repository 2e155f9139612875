import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { HeldModel } from "../../support/held-model.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";
import { HUMAN, inTurn, newTeam, runsOf } from "./support/teams.ts";

// Messages to a team whose run is active, as the clients of the protocols send them.

interface Event {
  type?: string;
  [field: string]: unknown;
}

let worker: TestWorker;
let model: HeldModel;
let count = 0;
let id: string;

beforeAll(async () => {
  const settings = { ALLOWED_EGRESS: "http://127.0.0.1", SECRETS_KEY: btoa("k".repeat(32)) };
  worker = await TestWorker.start(settings, { quietAbout: "request_refused" });
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  model = await HeldModel.start();
  id = `team${++count}`;
  await newTeam(worker, { id, component: writing() });
});

afterEach(() => model[Symbol.asyncDispose]());

function writing(): object {
  return {
    provider: "AssistantAgent",
    config: { name: "writer", model_client: model.client(), model_client_stream: true },
  };
}

async function eventsOf(response: Response): Promise<Event[]> {
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: {"))
    .map((event) => JSON.parse(event.slice(6)) as Event);
}

/** The texts of the team's log. */
async function said(): Promise<string[]> {
  const response = await worker.fetch(`/v1/teams/${id}/messages?limit=100`);
  const { messages } = (await response.json()) as { messages: { content: string }[] };
  return messages.map(({ content }) => content);
}

const STEERED = ["Write.", "Shorter.", "Short."];

const userMessage = (messageId: string, text: string): object => ({
  id: messageId,
  role: "user",
  parts: [{ type: "text", text }],
});

const chat = (messages: object[], more: object = {}): Promise<Response> =>
  worker.fetch(`/ai-sdk/teams/${id}/chat`, jsonInit({ id: "chat", messages, ...more }));

const textIn = (events: readonly Event[]): string =>
  events
    .filter(({ type }) => type === "text-delta" || type === "TEXT_MESSAGE_CONTENT")
    .map(({ delta }) => delta)
    .join("");

test("a chat of the AI SDK speaks into the run, and its answer is the next message", async () => {
  const first = chat([userMessage("1", "Write.")]).then(eventsOf);
  await model.request(1);
  const refused = await chat([userMessage("2", "Shorter.")], { on_conflict: "reject" });
  expect(await refused.text()).toMatch(/^team_busy/);
  const steered = chat([userMessage("2", "Shorter.")]).then(eventsOf);
  const request = await model.request(2);
  expect(request.texts.slice(-2)).toEqual(["Write.", "Shorter."]);
  request.end("Short.");
  const events = await steered;
  const before = await first;
  expect(events[0]).toMatchObject({ type: "start", messageId: expect.any(String) });
  expect(events[0]!["messageId"]).not.toBe(before[0]!["messageId"]);
  expect([textIn(events), events.at(-1)!.type]).toEqual(["Short.", "finish"]);
  const part = before.find(({ type }) => type === "data-steering");
  expect(part).toMatchObject({ id: events[0]!["messageId"], data: { content: "Shorter." } });
  // The same message again is not sent again, and shows the same answer.
  const again = await eventsOf(await chat([userMessage("2", "Shorter.")]));
  expect([again[0]!["messageId"], textIn(again)]).toEqual([events[0]!["messageId"], "Short."]);
  expect(await said()).toEqual(STEERED);
  expect(await runsOf(worker, id)).toHaveLength(1);
  const history = await worker.fetch(`/ai-sdk/teams/${id}/chat/chat/messages`);
  const { messages } = (await history.json()) as { messages: { role: string; id: string }[] };
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  expect(messages[2]!.id).toBe(events[0]!["messageId"]);
});

test("a file to the running team of a chat is refused by name", async () => {
  const first = chat([userMessage("1", "Write.")]).then(eventsOf);
  const request = await model.request(1);
  const url = "data:text/plain;base64,SGVsbG8=";
  const parts = [{ type: "file", url, mediaType: "text/plain", filename: "a.txt" }];
  const refused = await chat([{ id: "2", role: "user", parts }]);
  expect(await refused.text()).toContain("messages[0].parts: must be texts only");
  request.end("Long.");
  await first;
  expect(await said()).toEqual(["Write.", "Long."]);
});

const agUi = (messages: object[], more: object = {}): Promise<Response> =>
  worker.fetch(
    `/ag-ui/teams/${id}`,
    jsonInit({ threadId: "thread", runId: crypto.randomUUID(), messages, ...more }),
  );

test("a client of AG-UI speaks into the run, and gets the conversation and what follows", async () => {
  const write = { id: "1", role: "user", content: "Write." };
  const shorter = { id: "2", role: "user", content: "Shorter." };
  const first = agUi([write]).then(eventsOf);
  await model.request(1);
  const forwardedProps = { troupe: { on_conflict: "reject" } };
  const refused = await agUi([write, shorter], { forwardedProps });
  expect([refused.status, await refused.text()]).toEqual([
    409,
    expect.stringContaining("team_busy"),
  ]);
  const limited = { troupe: { timeout_seconds: 5 } };
  expect((await agUi([write, shorter], { forwardedProps: limited })).status).toBe(409);
  const steered = agUi([write, shorter], { tools: [{ name: "locate" }] }).then(eventsOf);
  const request = await model.request(2);
  expect(request.texts.slice(-2)).toEqual(["Write.", "Shorter."]);
  request.end("Short.");
  const events = await steered;
  const snapshot = events.find(({ type }) => type === "MESSAGES_SNAPSHOT");
  expect(snapshot?.["messages"]).toMatchObject([
    { id: "1", content: "Write." },
    { role: "user", content: "Shorter." },
  ]);
  expect(textIn(events)).toBe("Short.");
  expect(events.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  await first;
  // A client that was cut off sends it again, and gets the same run.
  const again = await eventsOf(await agUi([shorter]));
  expect(again.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "success" } });
  expect(await said()).toEqual(STEERED);
  expect(await runsOf(worker, id)).toHaveLength(1);
});

/** @param waits whether the answer comes with the end of the task */
const a2a = async (
  method: string,
  text: string,
  taskId?: string,
  more: object = {},
  waits = taskId !== undefined,
) => {
  const parts = [{ text }];
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts, taskId, ...more };
  const params = { message, configuration: { returnImmediately: !waits } };
  const body = { jsonrpc: "2.0", id: 1, method, params };
  const headers = { "a2a-version": "1.0" };
  return worker.fetch(`/a2a/teams/${id}`, jsonInit(body, "POST", headers));
};

async function begun(): Promise<string> {
  const started = await a2a("SendMessage", "Write.");
  const { result } = (await started.json()) as { result: { task: { id: string } } };
  return result.task.id;
}

test("a message to a working task of A2A goes into its run, and is sent once", async () => {
  const task = await begun();
  await model.request(1);
  const more = { messageId: "shorter" };
  const file = { parts: [{ raw: "SGVsbG8=", filename: "a.txt", mediaType: "text/plain" }] };
  expect(await (await a2a("SendMessage", "", task, file)).json()).toMatchObject({
    error: { code: -32005, message: "A message to a working task must be text." },
  });
  const streamed = a2a("SendStreamingMessage", "Shorter.", task, more).then(eventsOf);
  const request = await model.request(2);
  const again = await (await a2a("SendMessage", "Shorter.", task, more, false)).json();
  expect(again).toMatchObject({
    result: { task: { id: task, status: { state: "TASK_STATE_WORKING" } } },
  });
  expect(request.texts.slice(-2)).toEqual(["Write.", "Shorter."]);
  request.end("Short.");
  const events = await streamed;
  expect(events[0]).toMatchObject({
    result: { task: { id: task, status: { state: "TASK_STATE_WORKING" } } },
  });
  expect(events.at(-1)).toMatchObject({
    result: { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
  });
  const log = await worker.fetch(`/v1/teams/${task.split(".")[0]}/messages`);
  const { messages } = (await log.json()) as { messages: { content: string }[] };
  expect(messages.map(({ content }) => content)).toEqual(STEERED);
  expect(await (await a2a("SendMessage", "More.", task)).json()).toMatchObject({
    error: { code: -32004, message: expect.stringContaining("The task is completed") },
  });
});

test("a request of OpenAI's API speaks into the run with on_conflict steer, and its response is what follows", async () => {
  const baseURL = `${await worker.origin}/openai/v1`;
  const openai = new OpenAI({ baseURL, apiKey: "none", maxRetries: 0 });
  const wanted = { model: `team:${id}`, background: true };
  const first = await openai.responses.create({ ...wanted, input: "Write." });
  await model.request(1);
  const more = { ...wanted, input: "Shorter.", troupe: { on_conflict: "steer" } };
  for (const [given, status, code] of [
    [{ troupe: {} }, 409, "team_busy"],
    [{ previous_response_id: first.id, troupe: {} }, 409, "response_in_progress"],
    [{ metadata: { a: "b" } }, 400, "belongs_to_a_new_run"],
    [{ user: "eve" }, 409, "team_busy"],
  ] as const) {
    const refused = openai.responses.create({ ...more, ...given });
    await expect(refused).rejects.toMatchObject({ status, code });
  }
  const key = { headers: { "idempotency-key": "shorter" } };
  const second = await openai.responses.create(more, key);
  expect(second).toMatchObject({ status: "in_progress", background: true });
  expect(second.id).not.toBe(first.id);
  expect(second.id.startsWith(first.id)).toBe(true);
  expect((await openai.responses.create(more, key)).id).toBe(second.id);
  const request = await model.request(2);
  expect(request.texts.slice(-2)).toEqual(["Write.", "Shorter."]);
  request.end("Short.");
  const followed = openai.responses.stream({ response_id: second.id });
  expect((await followed.finalResponse()).output_text).toBe("Short.");
  expect((await openai.responses.retrieve(first.id)).output_text).toBe("Short.");
  expect(await said()).toEqual(STEERED);
  expect(await runsOf(worker, id)).toHaveLength(1);
  expect((await openai.responses.create(more, key)).id).toBe(second.id);

  // An idle team begins a run.
  const idle = openai.responses.create({ ...more, background: false, input: "Again." });
  (await model.request(3)).end("Once more.");
  expect((await idle).output_text).toBe("Once more.");
  expect(await runsOf(worker, id)).toHaveLength(2);
});

test("a run that asks something takes answers only, whatever the protocol", async () => {
  await newTeam(worker, { id: `${id}-asks`, component: inTurn(HUMAN) });
  id = `${id}-asks`;
  const ask = { id: "1", role: "user", content: "Ask." };
  const asked = await eventsOf(await agUi([ask], { protocolVersion: "1.0" }));
  expect(asked.at(-1)).toMatchObject({ type: "RUN_FINISHED", outcome: { type: "interrupt" } });
  const more = { id: "2", role: "user", content: "More." };
  const refused = await agUi([ask, more], { protocolVersion: "1.0" });
  expect(refused.status).toBe(409);
  await refused.body?.cancel();
  const answered = await eventsOf(await chat([userMessage("3", "Lisbon")]));
  expect(answered.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" });
  expect(await said()).not.toContain("More.");
});
