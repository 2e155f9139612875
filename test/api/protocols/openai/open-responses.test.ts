import type OpenAI from "openai";
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
