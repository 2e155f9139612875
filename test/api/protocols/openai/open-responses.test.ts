import type OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Connection, textOf } from "./support/connection.ts";
import { client, type Stage, startStage } from "./support/stage.ts";

// What the tests of Open Responses do over WebSockets, with the official client: a test for each, in the suite's order.

const ANSWER = "Four little words here.";
const MODEL = "template:tools_assistant";

let stage: Stage;
let origin: string;
let open: Connection[] = [];

beforeAll(async () => {
  stage = await startStage();
  origin = await stage.worker.origin;
});

afterAll(() => stage[Symbol.asyncDispose]());

afterEach(() => {
  for (const connection of open) connection.socket.close();
  open = [];
});

function connect(): Connection {
  const connection = new Connection(client(origin, "none"));
  open.push(connection);
  return connection;
}

const unstored = (input: string, previous?: string) => ({
  model: MODEL,
  store: false,
  input,
  ...(previous !== undefined && { previous_response_id: previous }),
});
const failing = (body: object) => ({ type: "response.create", ...body });
const NOT_FOUND = {
  type: "error",
  status: 404,
  error: { code: "previous_response_not_found", param: "previous_response_id" },
};

test("websocket-response: a response is created, and its events are those of a stream", async () => {
  const connection = connect();
  const response = await connection.create({
    model: MODEL,
    input: [{ type: "message", role: "user", content: "Count from 1 to 3." }],
  });
  expect([response.status, textOf(response)]).toEqual(["completed", ANSWER]);
  const numbers = connection.events.flatMap((event) =>
    "sequence_number" in event && event.sequence_number !== undefined
      ? [event.sequence_number]
      : [],
  );
  expect(numbers).toHaveLength(connection.events.length);
  expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers);
  expect(connection.events[0]?.type).toBe("response.created");
  expect(connection.events.at(-1)?.type).toBe("response.completed");
});

test("websocket-sequential-responses: responses follow each other on one connection", async () => {
  const connection = connect();
  const first = await connection.create(unstored("Reply with exactly: first"));
  const second = await connection.create(unstored("Reply with exactly: second"));
  expect(second.id).not.toBe(first.id);
  expect([textOf(first), textOf(second)]).toEqual([ANSWER, ANSWER]);
});

test("websocket-continuation: a response that is not stored continues with new input alone", async () => {
  const connection = connect();
  const first = await connection.create(unstored("Remember the code word: cobalt."));
  const next = await connection.create(unstored("What is the code word?", first.id));
  expect(next).toMatchObject({ previous_response_id: first.id, store: false });
  // The model has both questions.
  expect(JSON.stringify(stage.model.requests.at(-1)?.body)).toContain("cobalt");
  const last = await connection.create(unstored("And again?", next.id));
  expect(textOf(last)).toBe(ANSWER);
});

test("websocket-reconnect-store-false-recovery: another connection does not find it, and begins again", async () => {
  const first = connect();
  const { id } = await first.create(unstored("Remember the code word: copper."));
  // It belongs to the connection, also while that is open.
  expect(await connect().fail(failing(unstored("Continue.", id)))).toMatchObject(NOT_FOUND);
  expect(textOf(await first.create(unstored("Continue.", id)))).toBe(ANSWER);
  first.socket.close();
  await first.closed;
  const second = connect();
  expect(await second.fail(failing(unstored("Continue.", id)))).toMatchObject(NOT_FOUND);
  const recovered = await second.create(unstored("Start a new response."));
  expect(recovered.previous_response_id).toBeNull();
  expect(textOf(recovered)).toBe(ANSWER);
  // It is erased with its team.
  await expect
    .poll(() =>
      client(origin, "none")
        .responses.retrieve(id)
        .catch(({ status }: { status: number }) => status),
    )
    .toBe(404);
});

test("websocket-previous-response-not-found: a response that never was is an error, and the connection stays", async () => {
  const connection = connect();
  const missing = unstored("Continue.", "resp_openresponses_missing_1");
  expect(await connection.fail(failing(missing))).toMatchObject(NOT_FOUND);
  expect(textOf(await connection.create(unstored("Go.")))).toBe(ANSWER);
});

test("websocket-failed-continuation-evicts-cache: after a failed continuation it cannot be continued", async () => {
  const connection = connect();
  const { id } = await connection.create(unstored("Remember the code word: ember."));
  const output = { type: "function_call_output", call_id: "call_missing", output: "None." };
  const failed = await connection.fail(failing({ ...unstored("", id), input: [output] }));
  expect(failed).toMatchObject({ status: 400, error: { param: "input" } });
  expect(failed.error.message).toContain("call_missing");
  expect(await connection.fail(failing(unstored("Continue.", id)))).toMatchObject(NOT_FOUND);
  expect(textOf(await connection.create(unstored("Go.")))).toBe(ANSWER);
});

test("websocket-compact-new-chain: a compacted conversation is the input of a new one", async () => {
  const compacted = await client(origin, "none").responses.compact({
    model: MODEL,
    input: [
      { role: "user", content: "Remember the compaction code word: slate." },
      { role: "assistant", content: "OK." },
      { role: "user", content: "Compress this conversation." },
    ],
  });
  const next = await connect().create({
    model: MODEL,
    store: false,
    input: [
      ...(compacted.output as OpenAI.Responses.ResponseInputItem[]),
      { role: "user", content: "Continue from here." },
    ],
    tools: [],
  });
  expect(next.previous_response_id).toBeNull();
  expect(textOf(next)).toBe(ANSWER);
});

const statusOf = (id: string) =>
  client(origin, "none")
    .responses.retrieve(id)
    .then(
      () => 200,
      ({ status }: { status: number }) => status,
    );

/** Closes a connection, and waits until it has erased a response that was made on it. */
async function closeAndErase(connection: Connection): Promise<void> {
  const { id } = await connection.create(unstored("Erase this."));
  connection.socket.close();
  await expect.poll(() => statusOf(id)).toBe(404);
}

const isCreated = (
  event: ResponsesServerEvent,
): event is Extract<ResponsesServerEvent, { type: "response.created" }> =>
  event.type === "response.created";

test("a stored response that continues one which is not stored outlives the connection, for an hour", async () => {
  const connection = connect();
  const first = await connection.create(unstored("Write."));
  const second = await connection.create(unstored("Shorter.", first.id));
  const { store: _, ...stored } = unstored("Longer.", second.id);
  const kept = await connection.create(stored);
  const team = `/v1/teams/${kept.conversation!.id}`;
  expect(await (await stage.worker.fetch(team)).json()).toMatchObject({ expires_in: 3600 });
  await closeAndErase(connection);
  expect(await statusOf(kept.id)).toBe(200);
  // It no longer belongs to a connection.
  expect(textOf(await connect().create({ ...stored, previous_response_id: kept.id }))).toBe(ANSWER);
});

test("a stored response that is being made when its connection ends is completed", async () => {
  const connection = connect();
  const { id } = await connection.create(unstored("Write."));
  const { store: _, ...stored } = unstored("Tell me slowly.", id);
  connection.send({ ...stored, stream_id: "slow" });
  const from = connection.events.length;
  const { response } = await connection.until(isCreated, from);
  await closeAndErase(connection);
  stage.model.release("slow");
  const stream = client(origin, "none").responses.stream({ response_id: response.id });
  expect((await stream.finalResponse()).output_text).toBe("At last.");
});

test("a stored response outlives a connection that continued it with one which is not stored", async () => {
  const connection = connect();
  const { store: _, ...stored } = unstored("Write.");
  const first = await connection.create(stored);
  await connection.create(unstored("Shorter.", first.id));
  await closeAndErase(connection);
  expect(await statusOf(first.id)).toBe(200);
});

test("a connection binds all responses of eight conversations, and erases the one that was not used for longest", async () => {
  const connection = connect();
  const first = await connection.create(unstored("Write."));
  const dropped = await connection.create(unstored("Write."));
  let last = first;
  for (let n = 0; n < 5; n++) last = await connection.create(unstored("Again.", last.id));
  expect(await connect().fail(failing(unstored("Continue.", first.id)))).toMatchObject(NOT_FOUND);
  for (let n = 0; n < 7; n++) await connection.create(unstored("Write."));
  await expect.poll(() => statusOf(dropped.id)).toBe(404);
  expect(await connection.fail(failing(unstored("Go.", dropped.id)))).toMatchObject(NOT_FOUND);
  expect(textOf(await connection.create(unstored("Go.", last.id)))).toBe(ANSWER);
});
