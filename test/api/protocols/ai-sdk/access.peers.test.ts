import { TroupeClient } from "troupe/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { bearer, deployed, ORIGIN, teamToken } from "../support/access.ts";
import { SDK_NAMES } from "./support/sdks.ts";
import type { Component } from "./support/teams.ts";
import { newChat, textsOf } from "./support/test-chat.ts";

let worker: TestWorker;
let token: string;
let reading: string;

beforeAll(async () => {
  worker = await TestWorker.start(
    await deployed({ MAX_BODY_BYTES: "5000", TENANT_RUNS_PER_MINUTE: "6" }),
  );
  const client = new TroupeClient({ baseURL: await worker.origin, token: "acme" });
  await client.teams.create({
    id: "desk",
    component: SAMPLE_COMPONENT as unknown as Component,
  });
  token = await teamToken(worker, "desk", ["runs:write", "runs:read"]);
  reading = await teamToken(worker, "desk", ["runs:read"]);
});
afterAll(() => worker[Symbol.asyncDispose]());

describe.each(SDK_NAMES)("the chat of %s", (name) => {
  const chat = async (headers: Record<string, string>) =>
    newChat(name, `${await worker.origin}/ai-sdk/teams/desk/chat`, { headers });

  test.each([
    ["a request without a key", {}, /^missing_credentials: Send a key or a token/, 401],
    ["a key that may only read", bearer("runs:read"), /^missing_scope: .*runs:write/, 403],
    ["another tenant", bearer("globex"), /^team_not_found: There is no such team\.$/, 404],
  ])("%s is refused with a text", async (_, headers, message, status) => {
    const one = await chat(headers);
    await one.sendMessage({ text: "Hello." });
    expect(one.error?.message).toMatch(message);
    expect(one.requests).toMatchObject([{ status }]);
    expect(one.messages).toHaveLength(1);
  });

  test("a token of the team is sufficient", async () => {
    const one = await chat(bearer(token));
    await one.sendMessage({ text: "Hello." });
    expect(one.error).toBeUndefined();
    expect(textsOf(one.last)).not.toEqual([]);
    const other = await chat(bearer(reading));
    await other.resumeStream();
    expect(other.requests).toMatchObject([{ method: "GET", status: 204 }]);
  });

  test("a body that is too large gets an error with the limit", async () => {
    const one = await chat(bearer("acme"));
    await one.sendMessage({ text: "x".repeat(6000) });
    expect(one.error?.message).toMatch(
      /^body_too_large: The body is larger than 5000 bytes\. A file .* path or url\.$/,
    );
  });
});

const post = (body: unknown, headers: Record<string, string> = {}) =>
  worker.fetch("/ai-sdk/teams/desk/chat", {
    method: "POST",
    headers: { ...bearer("acme"), "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const says = (message: object) => ({
  id: "c",
  messages: [{ id: "1", role: "user", parts: [], ...message }],
});

test.each<[string, unknown, number, RegExp]>([
  ["no JSON", "{", 400, /^malformed_json: /],
  ["no object", [], 422, /^invalid_request: [^]*\nbody: /],
  ["no messages", { id: "c", messages: [] }, 422, /\nmessages: /],
  [
    "no text",
    says({}),
    422,
    /^invalid_task: [^]*\nmessages\[0\]\.parts: must have a text, an image or a file$/,
  ],
  [
    "a text of another type",
    says({ parts: [{ type: "text", text: 1 }] }),
    422,
    /\nmessages\[0\]\.parts\[0\]\.text: /,
  ],
  [
    "a part of an assistant",
    says({ parts: [{ type: "reasoning" }] }),
    422,
    /\nmessages\[0\]\.parts\[0\]\.type: /,
  ],
  ["a system message", says({ role: "system" }), 422, /\nmessages\[0\]\.role: /],
  ["another trigger", { ...says({}), trigger: "resume-stream" }, 422, /\ntrigger: /],
  ["wrong tools", { ...says({}), tools: [{ name: "a b" }] }, 422, /\ntools\[0\]\.name: /],
  [
    "the assistant's message to be tried again",
    { ...says({ role: "assistant" }), trigger: "regenerate-message" },
    422,
    /\nmessages\[0\]\.role: /,
  ],
])("%s is refused with its place", async (_, body, status, text) => {
  const response = await post(body);
  expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await response.text()).toMatch(text);
  expect(response.status).toBe(status);
});

test("a page on an allowed origin may send requests, and the stream names its type", async () => {
  const body = says({ id: crypto.randomUUID(), parts: [{ type: "text", text: "Hello." }] });
  const response = await post(body, { origin: ORIGIN });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "access-control-allow-origin": ORIGIN,
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-vercel-ai-ui-message-stream": "v1",
  });
  expect((await response.text()).split("\n\n").slice(-2)).toEqual(["data: [DONE]", ""]);
});

test("a limit of the tenant names the time to wait", async () => {
  await expect
    .poll(
      async () =>
        (await post(says({ id: crypto.randomUUID(), parts: [{ type: "text", text: "Hello." }] })))
          .status,
    )
    .toBe(429);
  const response = await post(says({ id: "last", parts: [{ type: "text", text: "Hello." }] }));
  expect(response.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await response.text()).toMatch(/^too_many_runs: /);
});
