import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json, JsonObject } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { TeamInfo } from "#contract/team.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { startEmbeddingServer } from "../support/embedding-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

const HOOK = { url: "https://hooks.example/", events: ["run.completed"] };
const MARKER = "**********";
const AGAIN =
  /secret of the team cannot be read: .*Set that key again, or give the secret again in PUT \/v1\/teams/;

let models: FakeOpenAI;

beforeAll(async () => {
  models = await startFakeOpenAI({ rules: [{ name: "answer", reply: { content: "Done." } }] });
});

afterAll(() => models.close());

const key = (letter: string): string => btoa(letter.repeat(32));

function helper(parts: JsonObject = {}, client: JsonObject = {}): JsonObject {
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "helper",
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: {
          model: "gpt-4o",
          api_key: "sk-stored",
          base_url: `${models.origin}/v1`,
          ...client,
        },
      },
      ...parts,
    },
  };
}

/** What the API answers: the team, a run, or a problem. */
type Answer = { status: number; body: TeamInfo & RunInfo & { detail?: string; errors?: Json } };

async function ask(
  worker: TestWorker,
  method: string,
  path: string,
  body?: object,
): Promise<Answer> {
  const response = await worker.fetch(path, body ? jsonInit(body, method) : { method });
  const text = await response.text();
  return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
}

/** The component as it is shown, with one place changed. */
function withChange(shown: object, keys: readonly (string | number)[], value: Json): JsonObject {
  const copy = structuredClone(shown) as JsonObject;
  let inner = copy as Record<string | number, Json>;
  for (const one of keys.slice(0, -1)) inner = inner[one] as Record<string | number, Json>;
  inner[keys.at(-1)!] = value;
  return copy;
}

describe("a secret that was shown as a marker", () => {
  let worker: TestWorker;

  beforeAll(async () => {
    worker = await TestWorker.start({
      SECRETS_KEY: key("k"),
      SANDBOX_URL: "http://127.0.0.1:9",
      SANDBOX_KEY: "unused",
    });
  });
  afterAll(() => worker[Symbol.asyncDispose]());

  const server = (server_params: JsonObject): JsonObject =>
    helper({
      workbench: [{ provider: "autogen_ext.tools.mcp.McpWorkbench", config: { server_params } }],
    });
  const PARAMS = ["config", "workbench", 0, "config", "server_params"] as const;
  const http = (): JsonObject =>
    server({
      type: "StreamableHttpServerParams",
      url: "https://mcp.example/acme",
      headers: { "x-key": "header-stored" },
      oauth: { client_id: "c", client_secret: "oauth-stored", issuer: "https://login.example/a" },
    });
  const program = (): JsonObject =>
    server({
      type: "StdioServerParams",
      command: "serve",
      args: ["--port"],
      cwd: "servers",
      env: { LOGIN: "env-stored" },
    });

  test.for<[string, () => JsonObject, readonly (string | number)[], Json]>([
    ["another path of the server", http, [...PARAMS, "url"], "https://mcp.example/evil"],
    ["another issuer", http, [...PARAMS, "oauth", "issuer"], "https://login.example/b"],
    ["another client of the issuer", http, [...PARAMS, "oauth", "client_id"], "d"],
    ["another header", http, [...PARAMS, "headers", "x-forwarded-host"], "evil.example"],
    ["another program", program, [...PARAMS, "command"], "sh"],
    ["other arguments", program, [...PARAMS, "args"], ["-c", "env"]],
    ["another directory", program, [...PARAMS, "cwd"], "evil"],
    ["another environment", program, [...PARAMS, "env", "NODE_OPTIONS"], "--require ./evil.js"],
    [
      "a decoy around it, whose address is the old one",
      http,
      PARAMS,
      {
        type: "StreamableHttpServerParams",
        provider: "autogen_ext.tools.mcp.McpWorkbench",
        config: { url: "https://mcp.example/acme", issuer: "https://login.example/a" },
        url: "https://evil.example/",
        headers: { "x-key": MARKER },
      },
    ],
    [
      "the model of another maker",
      () => helper({}, { base_url: null, default_headers: { "x-key": "stored" } }),
      ["config", "model_client", "config", "model"],
      "claude-sonnet-4-5",
    ],
  ])("is not used for %s, and nothing changes", async ([, component, keys, value]) => {
    const made = await ask(worker, "POST", "/v1/teams", { component: component() });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const path = `/v1/teams/${made.body.id}`;
    const changed = { component: withChange(made.body.component, keys, value) };
    const refused = await ask(worker, "PUT", `${path}/component`, changed);
    expect(refused.status).toBe(422);
    expect(JSON.stringify(refused.body.errors)).toMatch(
      /may not be used where|no secret is stored/,
    );
    const after = await ask(worker, "GET", path);
    expect(after.body.component).toEqual(made.body.component);
    expect(after.body.component_version).toBe(1);
  });

  test("is used when something harmless was changed, and reaches its server", async () => {
    const made = await ask(worker, "POST", "/v1/teams", { component: helper() });
    const path = `/v1/teams/${made.body.id}`;
    const config = ["config", "model_client", "config"];
    let component = withChange(made.body.component, [...config, "model"], "gpt-4o-mini");
    component = withChange(component, ["config", "system_message"], "Be brief.");
    const put = await ask(worker, "PUT", `${path}/component`, { component });
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    const run = await ask(worker, "POST", `${path}/runs?wait=60`, { task: "go" });
    expect(run.body.result?.messages.at(-1)).toMatchObject({ content: "Done." });
    expect(models.requests.at(-1)?.headers["authorization"]).toBe("Bearer sk-stored");
  });
});

describe("a change of SECRETS_KEY", () => {
  let directory: string;
  let worker: TestWorker;
  let embeddings: Awaited<ReturnType<typeof startEmbeddingServer>>;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "troupe-key-"));
    embeddings = await startEmbeddingServer();
    const before = await TestWorker.start({ SECRETS_KEY: key("a") }, { persistTo: directory });
    const embedding = {
      provider: "troupe.embeddings.OpenAIEmbeddingClient",
      config: { model: "small", base_url: embeddings.url, api_key: "secret-key" },
    };
    await ask(before, "PUT", "/v1/collections/handbook", { embedding });
    await ask(before, "PUT", "/v1/webhooks/hook", HOOK);
    for (const id of ["put", "state", "reset", "forked", "lost"]) {
      await ask(before, "POST", "/v1/teams", { id, component: helper() });
      const run = await ask(before, "POST", `/v1/teams/${id}/runs?wait=60`, { task: "go" });
      expect(run.body.status).toBe("completed");
    }
    await before[Symbol.asyncDispose]();
    worker = await TestWorker.start({ SECRETS_KEY: key("b") }, { persistTo: directory });
  });
  afterAll(async () => {
    await worker[Symbol.asyncDispose]();
    await embeddings[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  const again = (secret: string): object => ({ component: helper({}, { api_key: secret }) });

  /** The team answers, and its model gets the secret. */
  async function runs(id: string, secret: string): Promise<void> {
    const run = await ask(worker, "POST", `/v1/teams/${id}/runs?wait=60`, { task: "more" });
    expect(run.body.status, JSON.stringify(run.body)).toBe("completed");
    expect(models.requests.at(-1)?.headers["authorization"]).toBe(`Bearer ${secret}`);
  }

  test("leads to a run whose error names the remedy, which repairs the team with its conversation", async () => {
    const failed = await ask(worker, "POST", "/v1/teams/put/runs?wait=60", { task: "more" });
    expect(failed.body.error).toMatchObject({ type: "secrets_unreadable" });
    expect(failed.body.error?.message).toMatch(AGAIN);
    const { body: team } = await ask(worker, "GET", "/v1/teams/put");
    const marked = await ask(worker, "PUT", "/v1/teams/put/component", {
      component: team.component,
    });
    expect(marked.status).toBe(422);
    expect(marked.body.errors).toMatchObject([
      { path: "component.config.model_client.config.api_key" },
    ]);
    const put = await ask(worker, "PUT", "/v1/teams/put/component", again("sk-new"));
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    await runs("put", "sk-new");
    expect(JSON.stringify(models.requests.at(-1)?.body)).toContain("Done.");
  });

  test("leaves the state readable and loadable, and runs still need the secret", async () => {
    const state = await ask(worker, "GET", "/v1/teams/state/state");
    expect(state.status).toBe(200);
    expect(JSON.stringify(state.body)).toContain("Done.");
    const loaded = await ask(worker, "PUT", "/v1/teams/state/state", state.body);
    expect(loaded.status).toBe(204);
    const failed = await ask(worker, "POST", "/v1/teams/state/runs?wait=60", { task: "more" });
    expect(failed.body.error).toMatchObject({ type: "secrets_unreadable" });
    await ask(worker, "PUT", "/v1/teams/state/component", again("sk-state"));
    await runs("state", "sk-state");
  });

  test("leaves a team that can be reset", async () => {
    expect((await ask(worker, "POST", "/v1/teams/reset/reset")).status).toBe(200);
    await ask(worker, "PUT", "/v1/teams/reset/component", again("sk-reset"));
    await runs("reset", "sk-reset");
    expect(JSON.stringify(models.requests.at(-1)?.body)).not.toContain("Done.");
  });

  test("leaves a fork that can get the secret", async () => {
    const fork = await ask(worker, "POST", "/v1/teams/forked/fork", { id: "fork" });
    expect(fork.status).toBe(201);
    const put = await ask(worker, "PUT", "/v1/teams/fork/component", again("sk-fork"));
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    await runs("fork", "sk-fork");
  });

  test("leaves a webhook whose error explains how it gets another secret", async () => {
    const tested = await ask(worker, "POST", "/v1/webhooks/hook/test");
    expect(JSON.stringify(tested.body)).toMatch(
      /secret of the webhook .*hook.* cannot be read: SECRETS_KEY is not the one .*rotate it \(POST \/v1\/webhooks\/hook\/rotate_secret\)/,
    );
    const rotated = await ask(worker, "POST", "/v1/webhooks/hook/rotate_secret", {});
    expect(rotated.status).toBe(200);
  });

  test("fails a document with the cause, and it is embedded once the key is back", async () => {
    const path = "/v1/collections/handbook/documents/tea";
    const content = { mime_type: "text/plain", content: "Tea is at four." };
    expect((await ask(worker, "PUT", path, content)).status).toBe(202);
    const document = async (): Promise<unknown> => (await ask(worker, "GET", path)).body;
    await expect.poll(document).toMatchObject({
      status: "failed",
      error: expect.stringMatching(
        /secret of the collection "handbook" cannot be read: .*give the secret again in PUT \/v1\/collections\/handbook\./,
      ) as string,
    });
    const shown = await ask(worker, "GET", "/v1/collections/handbook");
    expect(JSON.stringify(shown.body)).toContain("Set that key again");
    await worker[Symbol.asyncDispose]();
    worker = await TestWorker.start({ SECRETS_KEY: key("a") }, { persistTo: directory });
    await expect.poll(document).toMatchObject({ status: "ready", embedded: 1, error: null });
    await worker[Symbol.asyncDispose]();
    worker = await TestWorker.start({ SECRETS_KEY: key("b") }, { persistTo: directory });
  });

  test("leaves references, which replace secrets, without any key", async () => {
    await worker[Symbol.asyncDispose]();
    worker = await TestWorker.start(
      { OPENAI_API_KEY: "sk-worker", OPENAI_BASE_URL: `${models.origin}/v1` },
      { persistTo: directory },
    );
    expect((await ask(worker, "GET", "/v1/teams/lost/state")).status).toBe(200);
    const put = await ask(worker, "PUT", "/v1/teams/lost/component", again("env:OPENAI_API_KEY"));
    expect(put.status, JSON.stringify(put.body)).toBe(200);
    await runs("lost", "sk-worker");
  });
});
