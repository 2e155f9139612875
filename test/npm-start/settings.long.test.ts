import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sha256Hex } from "#core/hash.ts";
import { startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { NpmStart } from "../support/npm-start.ts";
import { freePort } from "../support/ports.ts";

let persistTo: string;
let port: number;

beforeEach(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-settings-"));
  port = await freePort();
});

afterEach(() => rmSync(persistTo, { recursive: true, force: true }));

test("npm start passes on limits and the secrets that SECRET_HOSTS names", async () => {
  await using groq = await startFakeOpenAI({
    rules: [{ name: "hello", match: {}, reply: { content: "Hello." } }],
  });
  await using server = await NpmStart.ready({
    port,
    persistTo,
    settings: {
      GROQ_API_KEY: "gsk-test",
      SECRET_HOSTS: JSON.stringify({ GROQ_API_KEY: [new URL(groq.url).host] }),
      MAX_PARTICIPANTS: "1",
    },
  });
  const agent = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "a",
      description: "An agent.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o-mini", base_url: groq.url, api_key: "env:GROQ_API_KEY" },
      },
    },
  };
  const team = { provider: "RoundRobinGroupChat", config: { participants: [agent, agent] } };
  const refused = await fetch(`${server.url}/v1/teams`, jsonInit({ id: "t", component: team }));
  expect(await refused.json()).toMatchObject({
    errors: [
      { path: "component.config.participants", message: expect.stringContaining("at most 1") },
    ],
  });
  await fetch(`${server.url}/v1/teams`, jsonInit({ id: "t", component: agent }));
  const run = await fetch(`${server.url}/v1/teams/t/runs?wait=60`, jsonInit({ task: "Hi." }));
  expect(await run.json()).toMatchObject({ status: "completed" });
  expect(groq.requests.at(-1)?.headers["authorization"]).toBe("Bearer gsk-test");
});

test("npm start with TROUPE_OPEN=0 behaves as a deployed server: closed", async () => {
  await using server = await NpmStart.ready({
    port,
    persistTo,
    sandbox: true,
    settings: { TROUPE_OPEN: "0" },
  });
  expect(server.output).toContain("The API is closed (TROUPE_OPEN=0)");
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  const response = await fetch(`${server.url}/v1/templates`);
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: "auth_not_configured" });
});

test("npm start with TROUPE_OPEN=0 and keys accepts the keys only", async () => {
  const keys = [{ hash: await sha256Hex("my-key"), tenant: "acme", scopes: ["teams:read"] }];
  await using server = await NpmStart.ready({
    port,
    persistTo,
    sandbox: true,
    settings: { TROUPE_OPEN: "0", API_KEYS: JSON.stringify(keys) },
  });
  expect(server.output).toContain("The API requires credentials");
  const whoami = (headers: Record<string, string>): Promise<Response> =>
    fetch(`${server.url}/v1/whoami`, { headers });
  const unknown = await whoami({});
  expect(await unknown.json()).toMatchObject({ status: 401, code: "missing_credentials" });
  const known = await whoami({ authorization: "Bearer my-key" });
  expect(await known.json()).toMatchObject({ tenant: "acme", scopes: ["teams:read"] });
});
