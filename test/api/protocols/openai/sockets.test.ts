import type OpenAI from "openai";
import type { ResponsesServerEvent } from "openai/resources/responses/responses";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { jsonInit } from "../../../support/http-app.ts";
import { bearer, deployed, teamToken } from "../support/access.ts";
import { newTeam, writer } from "../support/teams.ts";
import { Connection, isCompleted, type ServerError, textOf } from "./support/connection.ts";
import { client, LOCATE, type Stage, startStage } from "./support/stage.ts";

let stage: Stage;
let origin: string;
let count = 0;
let id: string;
let model: string;
let open: Connection[] = [];

beforeAll(async () => {
  stage = await startStage(await deployed());
  origin = await stage.worker.origin;
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(async () => {
  id = `team${++count}`;
  model = `team:${id}`;
  await newTeam(stage.worker, { id, component: writer() }, bearer("acme"));
});

afterEach(() => {
  for (const connection of open) connection.socket.close();
  open = [];
});

function connect(key = "acme"): Connection {
  const connection = new Connection(client(origin, key));
  open.push(connection);
  return connection;
}

const ANSWER = "Four little words here.";

test("a response has the events of a stream over HTTP, and can be retrieved", async () => {
  const connection = connect();
  const response = await connection.create({ model, input: "Write." });
  expect(textOf(response)).toBe(ANSWER);
  const types = connection.events.map(({ type }) => type);
  expect(types[0]).toBe("response.created");
  expect(types.filter((type) => type === "response.output_text.delta").length).toBeGreaterThan(2);
  const openai = client(origin, "acme");
  expect((await openai.responses.retrieve(response.id)).output_text).toBe(ANSWER);
  const overHttp: string[] = [];
  const stream = openai.responses.stream({ response_id: response.id });
  stream.on("event", ({ type }) => overHttp.push(type));
  await stream.finalResponse();
  expect(types).toEqual(overHttp);
});

test("responses of a connection are made one after the other, also when they are sent together", async () => {
  const connection = connect();
  connection.send({ model, input: "First." });
  connection.send({ model, input: "Second." });
  const first = await connection.until(isCompleted);
  const second = await connection.until(isCompleted, connection.events.indexOf(first) + 1);
  const before = connection.events.slice(0, connection.events.indexOf(first) + 1);
  expect(before.filter(({ type }) => type === "response.created")).toHaveLength(1);
  expect(second.response.id).not.toBe(first.response.id);
  expect(textOf(second.response)).toBe(ANSWER);
});

test("a response continues after the one before by previous_response_id", async () => {
  const connection = connect();
  const template = "template:writer_critic";
  const first = await connection.create({ model, input: "Write." });
  const next = await connection.create({
    model,
    input: "Again.",
    previous_response_id: first.id,
  });
  expect(next.previous_response_id).toBe(first.id);
  const created = await connection.create({ model: template, input: "Write." });
  const continued = await connection.create({
    model: template,
    input: "Shorter.",
    previous_response_id: created.id,
  });
  expect(continued.conversation).toEqual(created.conversation);
});

test("calls of the client's functions are answered over the connection", async () => {
  const connection = connect();
  const tools = [{ type: "function" as const, ...LOCATE, strict: null }];
  const asked = await connection.create({ model, input: "Where am I?", tools });
  const call = asked.output.find((item) => item.type === "function_call");
  const answered = await connection.create({
    model,
    previous_response_id: asked.id,
    input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "Vienna" }],
  });
  expect(textOf(answered)).toBe("You are in Vienna.");
});

test("a response that is not stored can be continued on its connection", async () => {
  const connection = connect();
  const template = "template:writer_critic";
  const first = await connection.create({ model: template, input: "Write.", store: false });
  const next = await connection.create({
    model: template,
    input: "Shorter.",
    store: false,
    previous_response_id: first.id,
  });
  expect(next).toMatchObject({ store: false });
  expect(textOf(next)).not.toBe("");
});

test("another connection continues after one that broke off", async () => {
  const first = connect();
  first.send({ model, input: "Write." });
  const { response } = await first.until(
    (event): event is Extract<ResponsesServerEvent, { type: "response.created" }> =>
      event.type === "response.created",
  );
  first.socket.close();
  await first.closed;
  const openai = client(origin, "acme");
  const stream = openai.responses.stream({ response_id: response.id });
  expect((await stream.finalResponse()).output_text).toBe(ANSWER);
  const next = await connect().create({
    model,
    input: "More.",
    previous_response_id: response.id,
  });
  expect(textOf(next)).toBe(ANSWER);
});

test("a compacted conversation continues on another connection", async () => {
  const first = await connect().create({ model, input: "Write." });
  const compacted = await client(origin, "acme").responses.compact({
    model,
    previous_response_id: first.id,
  });
  const next = await connect().create({
    model,
    input: [
      ...(compacted.output as OpenAI.Responses.ResponseInputItem[]),
      { role: "user", content: "More." },
    ],
  });
  expect(next.previous_response_id).toBe(first.id);
});

test.each<[string, () => object, Partial<ServerError["error"]> & { status: number }]>([
  [
    "a response that does not exist",
    () => ({ type: "response.create", model, input: "?", previous_response_id: "resp_none.none" }),
    { status: 404, code: "previous_response_not_found", param: "previous_response_id" },
  ],
  [
    "an unknown model",
    () => ({ type: "response.create", model: "gpt-5", input: "?" }),
    { status: 404, code: "model_not_found" },
  ],
  [
    "an invalid input",
    () => ({ type: "response.create", model, input: 5 }),
    { status: 400, code: "invalid_request", param: "input" },
  ],
  [
    "a response in the background",
    () => ({ type: "response.create", model, input: "?", background: true }),
    { status: 400, code: "unsupported_parameter", param: "background" },
  ],
  [
    "a response that is only prepared",
    () => ({ type: "response.create", model, input: "?", generate: false }),
    { status: 400, code: "unsupported_parameter", param: "generate" },
  ],
  ["another event", () => ({ type: "session.update" }), { status: 400, code: "invalid_event" }],
])("%s is an error, and the connection continues", async (_, event, { status, ...error }) => {
  const connection = connect();
  expect(await connection.fail(event())).toMatchObject({ type: "error", status, error });
  expect(textOf(await connection.create({ model, input: "Write." }))).toBe(ANSWER);
});

test("streams with names of their own run side by side", async () => {
  const connection = connect();
  await newTeam(stage.worker, { id: `${id}-b`, component: writer() }, bearer("acme"));
  connection.send({ model, input: "Tell me slowly.", stream_id: "slow" });
  connection.send({ model: `${model}-b`, input: "Write.", stream_id: "fast" });
  const fast = await connection.until(isCompleted);
  expect(fast).toMatchObject({ stream_id: "fast", response: { model: `${model}-b` } });
  stage.model.release("slow");
  const slow = await connection.until(isCompleted, connection.events.indexOf(fast) + 1);
  expect(slow).toMatchObject({ stream_id: "slow" });
  expect(connection.events.every((event) => "stream_id" in event)).toBe(true);
});

test("a connection needs a credential with the scope runs:write", async () => {
  for (const key of ["wrong", "runs:read"]) {
    const connection = connect(key);
    expect((await connection.closed).code).toBe(1006);
    expect(connection.events).toEqual([]);
  }
  const plain = await stage.worker.fetch("/openai/v1/responses", { headers: bearer("acme") });
  expect([plain.status, await plain.json()]).toEqual([
    426,
    { error: expect.objectContaining({ code: "upgrade_required" }) },
  ]);
});

test("a connection ends with its key, and a token reaches its team alone", async () => {
  const made = await stage.worker.fetch(
    "/v1/keys",
    jsonInit({ name: "socket", scopes: ["runs:write"] }, "POST", bearer("acme")),
  );
  const { id: keyId, key } = (await made.json()) as { id: string; key: string };
  const connection = connect(key);
  expect(textOf(await connection.create({ model, input: "Write." }))).toBe(ANSWER);
  await stage.worker.fetch(`/v1/keys/${keyId}`, { method: "DELETE", headers: bearer("acme") });
  expect((await connection.closed).code).toBe(1008);
  const token = connect(await teamToken(stage.worker, id, ["runs:write"]));
  expect(textOf(await token.create({ model, input: "Write." }))).toBe(ANSWER);
  expect(
    await token.fail({ type: "response.create", model: "team:other", input: "?" }),
  ).toMatchObject({
    status: 403,
  });
});

test("an idle connection ends soon after its token was revoked, or its team deleted", async () => {
  const auth = bearer("acme");
  const tokens = `/v1/teams/${id}/tokens`;
  const idle = async (): Promise<{ token: string; connection: Connection }> => {
    const made = await stage.worker.fetch(
      tokens,
      jsonInit({ scopes: ["runs:write"], expires_in: 300 }, "POST", auth),
    );
    const { id: token, token: secret } = (await made.json()) as { id: string; token: string };
    const connection = connect(secret);
    // It is open and idle when a response was made.
    expect(textOf(await connection.create({ model, input: "Write." }))).toBe(ANSWER);
    return { token, connection };
  };
  const [revoked, other] = [await idle(), await idle()];
  await stage.worker.fetch(`${tokens}/${revoked.token}`, { method: "DELETE", headers: auth });
  expect(await revoked.connection.closed).toEqual({
    code: 1008,
    reason: "The credential has ended.",
  });
  expect(textOf(await other.connection.create({ model, input: "Write." }))).toBe(ANSWER);
  await stage.worker.fetch(tokens, { method: "DELETE", headers: auth });
  expect((await other.connection.closed).code).toBe(1008);
  const last = await idle();
  await stage.worker.fetch(`/v1/teams/${id}`, { method: "DELETE", headers: auth });
  expect((await last.connection.closed).code).toBe(1008);
});
