import { afterAll, beforeAll, expect, test } from "vitest";
import type { SharedConversation } from "troupe/client";
import type { Scope } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

const DAY = 86_400;
const PROMPT = "You are a clerk with a secret instruction.";
/** One that occurs nowhere else. */
const EXPRESSION = "1234 * 4321";

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex("reader"), tenant: "acme", scopes: ["teams:read"] },
      { hash: await sha256Hex("sharer"), tenant: "acme", scopes: ["teams:read", "teams:write"] },
      {
        hash: await sha256Hex("owner"),
        tenant: "acme",
        scopes: ["teams:read", "teams:write", "runs:write", "keys:write"],
      },
      { hash: await sha256Hex("runner"), tenant: "acme", scopes: ["runs:read"] },
    ]),
  });
  await ask("owner", "/v1/teams", { id: "desk", label: "Desk", component: clerk() });
  const task = {
    type: "MultiModalMessage",
    source: "user",
    content: ["Calculate it.", { name: "bill.txt", media_type: "text/plain", data: btoa("paid") }],
  };
  const response = await ask("owner", "/v1/teams/desk/runs?wait=60", { task });
  expect(((await response.json()) as { status: string }).status).toBe("completed");
});

afterAll(() => worker[Symbol.asyncDispose]());

/** An agent that calculates, and says the result and a thought. */
function clerk(): object {
  const call = {
    id: "c1",
    name: "calculator",
    arguments: JSON.stringify({ expression: EXPRESSION }),
  };
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name: "clerk",
      system_message: PROMPT,
      reflect_on_tool_use: true,
      tools: [{ provider: "FunctionTool", config: { name: "calculator" } }],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        component_type: "model",
        config: {
          chat_completions: [
            {
              finish_reason: "function_calls",
              content: [call],
              usage,
              cached: false,
              thought: "I wonder.",
            },
            "<think>A private thought.</think>It is calculated.",
          ],
          model_info: {
            vision: false,
            function_calling: true,
            json_output: false,
            structured_output: false,
            family: "unknown",
          },
        },
      },
    },
  };
}

function ask(key: string, path: string, body?: object, method = "POST"): Promise<Response> {
  const headers = { authorization: `Bearer ${key}` };
  return worker.fetch(path, body === undefined ? { headers } : jsonInit(body, method, headers));
}

async function share(
  scopes: Scope[],
  expires_in = 7 * DAY,
): Promise<{ id: string; token: string }> {
  const response = await ask("sharer", "/v1/teams/desk/tokens", { scopes, expires_in });
  expect(response.status).toBe(201);
  return (await response.json()) as { id: string; token: string };
}

async function read(token: string): Promise<{ page: SharedConversation; text: string }> {
  const response = await ask(token, "/v1/teams/desk/conversation");
  expect(response.status).toBe(200);
  const page = (await response.json()) as SharedConversation;
  return { page, text: JSON.stringify(page) };
}

test("a shared conversation contains its messages, and nothing more", async () => {
  const { token } = await share(["conversation:read"]);
  const { page, text } = await read(token);
  expect(page.label).toBe("Desk");
  expect(page.component).toBeNull();
  expect(page.messages.map(({ type, source }) => `${type} ${source}`)).toEqual([
    "MultiModalMessage user",
    "ToolCallRequestEvent clerk",
    "ToolCallExecutionEvent clerk",
    "TextMessage clerk",
  ]);
  expect(text).toContain("It is calculated.");
  expect(text).toContain("calculator");
  for (const hidden of [PROMPT, EXPRESSION, "5332114", btoa("paid"), "thought", "wonder"]) {
    expect(text).not.toContain(hidden);
  }
});

test("parts that are ticked are shared, too", async () => {
  const tools = await read((await share(["conversation:read", "tools:read"])).token);
  expect(tools.text).toContain(EXPRESSION);
  expect(tools.text).toContain("5332114");
  expect(tools.text).not.toContain(PROMPT);
  const files = await share(["conversation:read", "files:read"]);
  expect((await read(files.token)).text).toContain(btoa("paid"));
  const component = await read((await share(["conversation:read", "component:read"])).token);
  expect(JSON.stringify(component.page.component)).toContain(PROMPT);
});

test("a link reads one conversation only", async () => {
  await ask("owner", "/v1/teams", { id: "other", component: clerk() });
  const { token } = await share(["conversation:read"]);
  for (const path of [
    "/v1/teams/desk",
    "/v1/teams/desk/messages",
    "/v1/teams/desk/state",
    "/v1/teams/desk/events",
    "/v1/teams/desk/files",
    "/v1/teams/desk/files/a.txt",
    "/v1/teams/desk/runs",
    "/v1/teams/desk/turns",
    "/v1/teams/other/conversation",
    "/v1/teams/other/conversation/events",
    "/v1/teams",
    "/v1/runs",
    "/v1/events",
    "/v1/usage",
    "/v1/keys",
    "/openai/v1/models",
  ]) {
    expect([path, (await ask(token, path)).status]).toEqual([path, 403]);
  }
  const task = await ask(token, "/v1/teams/desk/runs", { task: "Go on." });
  expect(task.status).toBe(403);
  const more = await ask(token, "/v1/teams/desk/tokens", {
    scopes: ["conversation:read"],
    expires_in: 60,
  });
  expect(more.status).toBe(403);
});

test("a link can be revoked alone", async () => {
  const [first, second] = [await share(["conversation:read"]), await share(["conversation:read"])];
  const path = `/v1/teams/desk/tokens/${first.id}`;
  expect((await ask("reader", path, {}, "DELETE")).status).toBe(403);
  expect((await ask("owner", path, {}, "DELETE")).status).toBe(204);
  expect((await ask(first.token, "/v1/teams/desk/conversation")).status).toBe(401);
  await read(second.token);
});

test("a token that is not a link lives for a day at most, and sharing needs the right to read", async () => {
  for (const [scopes, expires_in, path] of [
    [["teams:read"], DAY + 1, "expires_in"],
    [["conversation:read", "teams:read"], 7 * DAY, "expires_in"],
    [["conversation:read"], 90 * DAY + 1, "expires_in"],
  ] as const) {
    const response = await ask("sharer", "/v1/teams/desk/tokens", { scopes, expires_in });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path }] });
  }
  const body = { scopes: ["conversation:read"], expires_in: 60 };
  expect((await ask("runner", "/v1/teams/desk/tokens", body)).status).toBe(403);
  const both = await ask("reader", "/v1/teams/desk/conversation?after=1&before=5");
  expect(both.status).toBe(422);
});
