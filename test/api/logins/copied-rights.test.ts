// Rights that a loaded team holds a copy of, besides logins: what replaces them counts for the next run.
import { afterAll, beforeAll, expect, test } from "vitest";
import { sha256Hex } from "#core/hash.ts";
import { TestMcpServer } from "../../components/mcp/support/test-server.ts";
import { EchoServer } from "../../support/echo-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { bearer } from "../protocols/support/access.ts";
import { LoginStage } from "./support.ts";

const OPERATOR = "operator-secret";
const ANSWER = JSON.stringify({
  id: "c",
  object: "chat.completion",
  created: 1,
  model: "gpt-4o",
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "Done." } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});

let stage: LoginStage;
let model: EchoServer;
let mcp: TestMcpServer;
beforeAll(async () => {
  model = await EchoServer.start((response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(ANSWER);
  });
  mcp = await TestMcpServer.start();
  stage = await LoginStage.start([], {
    ALLOWED_EGRESS: [`http://127.0.0.1:${model.port}`, new URL(mcp.url).origin].join(","),
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
  });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});

/** An agent whose model and server get a secret each. */
const agent = (secret: string) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name: "clerk",
    model_client: {
      provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
      config: {
        model: "gpt-4o",
        api_key: `model-${secret}`,
        base_url: `http://127.0.0.1:${model.port}/v1`,
      },
    },
    workbench: [
      {
        provider: "autogen_ext.tools.mcp.McpWorkbench",
        config: {
          server_params: { ...mcp.params, headers: { authorization: `Bearer mcp-${secret}` } },
        },
      },
    ],
  },
});

const sent = (secret: string) => [[`Bearer model-${secret}`], [`Bearer mcp-${secret}`]];

/** What was sent since the last time, each once. */
function seen(): (string | undefined)[][] {
  const models = model.requests.splice(0).map(({ headers }) => headers["authorization"]);
  const servers = mcp.headers.splice(0).map(({ authorization }) => authorization);
  return [models, servers].map((all) => [...new Set(all)]);
}

test("keys of models and servers come from the present component, and limits from the tenant", async () => {
  await stage.json("/v1/teams", { id: "copies", component: agent("first") });
  expect(await stage.run("copies")).toMatchObject({ status: "completed" });
  expect(seen()).toEqual(sent("first"));
  const change = jsonInit({ component: agent("second") }, "PUT", bearer("acme"));
  expect((await stage.worker.fetch("/v1/teams/copies/component", change)).status).toBe(200);
  seen();
  expect(await stage.run("copies")).toMatchObject({ status: "completed" });
  expect(seen()).toEqual(sent("second"));

  const limits = jsonInit({ limits: { runs_per_minute: 1 } }, "PUT", bearer(OPERATOR));
  expect((await stage.worker.fetch("/v1/tenants/acme", limits)).status).toBe(200);
  await expect(stage.run("copies")).rejects.toThrow("429");
  expect(seen()).toEqual([[], []]);
});
