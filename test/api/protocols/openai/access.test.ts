import type OpenAI from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { bearer, deployed, ORIGIN, teamToken } from "../support/access.ts";
import { newTeam } from "../support/teams.ts";
import { client, type Stage, startStage } from "./support/stage.ts";

let stage: Stage;
let origin: string;

const messages = [{ role: "user" as const, content: "Hello." }];
const model = "team:desk";

beforeAll(async () => {
  const settings = { TENANT_RUNS_PER_MINUTE: "20" };
  stage = await startStage(await deployed(settings, ["acme", "globex", "busy"]));
  origin = await stage.worker.origin;
  await newTeam(stage.worker, { id: "desk", component: SAMPLE_COMPONENT }, bearer("acme"));
  await newTeam(stage.worker, { id: "desk", component: SAMPLE_COMPONENT }, bearer("busy"));
});

afterAll(() => stage[Symbol.asyncDispose]());

test("a wrong key is refused in the shape of the API", async () => {
  await expect(client(origin, "wrong").models.list()).rejects.toMatchObject({
    status: 401,
    type: "invalid_request_error",
    code: "invalid_credentials",
    error: { message: expect.any(String), param: null },
  });
});

test.each([
  ["GET", "/nothing", 404, "not_found"],
  ["POST", "/models", 405, "method_not_allowed"],
  ["GET", "/chat/completions", 405, "method_not_allowed"],
])(
  "%s %s that does not exist is refused in the shape of the API",
  async (method, path, status, code) => {
    const url = `${origin}/openai/v1${path}`;
    for (const [key, expected] of [
      ["acme", { status, code }],
      ["wrong", { status: 401, code: "invalid_credentials" }],
    ] as const) {
      const response = await fetch(url, { method, headers: bearer(key) });
      expect(response.status).toBe(expected.status);
      expect(await response.json()).toEqual({
        error: expect.objectContaining({ code: expected.code, message: expect.any(String) }),
      });
    }
  },
);

test.each<[string, Scope, (openai: OpenAI) => Promise<unknown>]>([
  ["counting", "teams:read", (openai) => openai.responses.inputTokens.count({ model, input: "?" })],
  ["models", "teams:read", (openai) => openai.models.retrieve(model)],
  ["a completion", "runs:write", (openai) => openai.chat.completions.create({ model, messages })],
  ["a response", "runs:write", (openai) => openai.responses.create({ model, input: "Hello." })],
  ["reading a response", "runs:read", (openai) => openai.responses.retrieve("resp_desk.none")],
  ["cancelling", "runs:write", (openai) => openai.responses.cancel("resp_desk.none")],
])("%s: the scope is %s", async (_, needed, call) => {
  for (const scope of SCOPES) {
    const { code } = (await call(client(origin, scope)).then(
      () => ({ code: null }),
      (error: unknown) => error,
    )) as { code: string | null };
    if (scope === needed) expect(code).not.toBe("missing_scope");
    else expect(code).toBe("missing_scope");
  }
});

test("making a team of a template and forking one need teams:write, too", async () => {
  const openai = client(origin, "runs:write");
  const template = "template:writer_critic";
  await expect(openai.chat.completions.create({ model: template, messages })).rejects.toMatchObject(
    { status: 403, code: "missing_scope" },
  );
});

test("teams and responses of another tenant do not exist", async () => {
  const response = await client(origin, "acme").responses.create({ model, input: "Hello." });
  const other = client(origin, "globex");
  await expect(other.models.retrieve(model)).rejects.toMatchObject({ status: 404 });
  await expect(other.chat.completions.create({ model, messages })).rejects.toMatchObject({
    status: 404,
    code: "model_not_found",
  });
  await expect(other.responses.retrieve(response.id)).rejects.toMatchObject({
    status: 404,
    code: "response_not_found",
  });
  await expect(
    other.responses.create({
      model: "template:writer_critic",
      input: "Hello.",
      previous_response_id: response.id,
    }),
  ).rejects.toMatchObject({ status: 404, code: "previous_response_not_found" });
  await expect(other.responses.cancel(response.id)).rejects.toMatchObject({ status: 404 });
  await expect(other.responses.delete(response.id)).rejects.toMatchObject({ status: 404 });
});

test("a token of a team is valid for this team only, and creates none", async () => {
  await newTeam(stage.worker, { id: "other", component: SAMPLE_COMPONENT }, bearer("acme"));
  const token = await teamToken(stage.worker, "desk", ["teams:read", "runs:read", "runs:write"]);
  const openai = client(origin, token);
  expect((await openai.models.list()).data.map(({ id }) => id)).toEqual([model]);
  const { choices } = await openai.chat.completions.create({ model, messages });
  expect(choices[0]!.finish_reason).toBe("stop");
  const response = await openai.responses.create({ model, input: "Hello." });
  expect(await openai.responses.retrieve(response.id)).toMatchObject({ status: "completed" });

  const elsewhere = await client(origin, "acme").responses.create({
    model: "team:other",
    input: "Hello.",
  });
  const refused = { status: 403, code: "other_team" };
  for (const call of [
    () => openai.models.retrieve("team:other"),
    () => openai.chat.completions.create({ model: "team:other", messages }),
    () => openai.responses.create({ model: "team:other", input: "Hello." }),
    () =>
      openai.responses.create({
        model: "template:writer_critic",
        conversation: "other",
        input: "Hello.",
      }),
    () => openai.responses.create({ model, previous_response_id: elsewhere.id, input: "Hello." }),
    () => openai.responses.retrieve(elsewhere.id),
    () => openai.responses.inputItems.list(elsewhere.id),
    () => openai.responses.cancel(elsewhere.id),
  ]) {
    await expect(call()).rejects.toMatchObject(refused);
  }
  for (const call of [
    () => openai.responses.create({ model: "template:writer_critic", input: "Hello." }),
    () => openai.responses.delete(response.id),
  ]) {
    await expect(call()).rejects.toMatchObject({ status: 403, code: "missing_scope" });
  }
});

test("models are the templates and the teams, found by their ids", async () => {
  const openai = client(origin, "acme");
  const { data } = await openai.models.list();
  expect(data).toContainEqual(expect.objectContaining({ id: model, owned_by: "acme" }));
  const template = data.find(({ id }) => id === "template:human_in_the_loop");
  expect(template).toEqual({
    id: "template:human_in_the_loop",
    object: "model",
    created: 0,
    owned_by: "troupe",
  });
  for (const { id } of data) expect((await openai.models.retrieve(id)).id).toBe(id);
  // The team of a request is not a model of its own.
  await openai.responses.create({ model: template!.id, input: "Hello." });
  const later = (await openai.models.list()).data.map(({ id }) => id);
  expect(later.toSorted()).toEqual(data.map(({ id }) => id).toSorted());
});

test("limits are reported with the time to wait", async () => {
  const openai = client(origin, "busy");
  const refused = await (async () => {
    for (let n = 0; n < 30; n++) await openai.chat.completions.create({ model, messages });
    return undefined;
  })().catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, type: "rate_limit_error" });
  expect(Number((refused as { headers: Headers }).headers.get("retry-after"))).toBeGreaterThan(0);
});

test.each<[string, object, object]>([
  ["nothing new", { messages: [{ role: "assistant", content: "" }] }, { param: "messages" }],
  ["no messages", { messages: [] }, { param: "messages" }],
  ["a role", { messages: [{ role: "king", content: "Hi." }] }, { param: "messages[0].role" }],
  ["several answers", { n: 2 }, { param: "n", code: "unsupported_parameter" }],
  [
    "five stop sequences",
    { stop: ["a", "b", "c", "d", "e"] },
    { param: "stop", code: "invalid_request" },
  ],
  ["an empty stop sequence", { stop: "" }, { param: "stop", code: "invalid_request" }],
  ["a forced tool", { tool_choice: "required" }, { param: "tool_choice" }],
  ["audio", { modalities: ["text", "audio"] }, { param: "modalities" }],
  ["another kind of tool", { tools: [{ type: "custom", custom: {} }] }, { param: "tools[0].type" }],
  ["the extension", { troupe: { show: "none" } }, { param: "troupe.show" }],
  ["an unknown extension", { troupe: { colour: 1 } }, { param: "troupe.colour" }],
  ["a model of another kind", { model: "gpt-5" }, { status: 404, code: "model_not_found" }],
  [
    "a large message",
    { messages: [{ role: "user", content: "x".repeat(600_000) }] },
    { param: "messages" },
  ],
  ["a large body", { user: "x".repeat(1_100_000) }, { status: 413, code: "body_too_large" }],
])("invalid parts of a request are named: %s", async (_, change, wanted) => {
  const body = { model, messages, ...change } as OpenAI.ChatCompletionCreateParamsNonStreaming;
  await expect(client(origin, "acme").chat.completions.create(body)).rejects.toMatchObject({
    status: 400,
    type: "invalid_request_error",
    ...wanted,
  });
});

test("parameters of models have no effect", async () => {
  const completion = await client(origin, "acme").chat.completions.create({
    model,
    messages,
    temperature: 0.5,
    max_completion_tokens: 100,
    user: "somebody",
    n: 1,
    tool_choice: "none",
    tools: [{ type: "function", function: { name: "locate" } }],
  });
  expect(completion.choices[0]?.finish_reason).toBe("stop");
});

test("a body that is not JSON is refused", async () => {
  const sent = await stage.worker.fetch("/openai/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer("acme") },
    body: "{",
  });
  expect(sent.status).toBe(400);
  expect(await sent.json()).toMatchObject({
    error: { type: "invalid_request_error", code: "malformed_json" },
  });
});

test("pages of allowed origins may send requests", async () => {
  const preflight = await stage.worker.fetch("/openai/v1/chat/completions", {
    method: "OPTIONS",
    headers: {
      origin: ORIGIN,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type,x-stainless-lang",
    },
  });
  expect(preflight.headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(preflight.headers.get("access-control-allow-headers")).toContain("X-Stainless-Lang");
});
