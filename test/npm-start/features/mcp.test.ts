import { expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { TestMcpServer } from "../../components/mcp/support/test-server.ts";
import { connect } from "../../api/protocols/mcp/support/clients.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { server } from "./support/shared-server.ts";

test("an agent calls a tool of an MCP server", async () => {
  await using mcp = await TestMcpServer.start();
  const component = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      description: "Uses the tools.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      workbench: [
        {
          provider: "autogen_ext.tools.mcp.McpWorkbench",
          config: { server_params: mcp.params },
        },
      ],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: [
            {
              finish_reason: "function_calls",
              content: [{ id: "c", name: "echo", arguments: '{"text":"hi"}' }],
              usage: { prompt_tokens: 1, completion_tokens: 1 },
              cached: false,
            },
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
  await server.json("/v1/teams", { id: "mcp-client", component });
  const run = await server.json<RunInfo>("/v1/teams/mcp-client/runs?wait=60", { task: "go" });
  expect(run.status).toBe("completed");
  expect(run.result?.messages.at(-1)).toMatchObject({ content: "echo: hi" });
});

test("an MCP client calls a team as a tool", async () => {
  await server.json("/v1/teams", {
    id: "mcp-server",
    label: "News desk",
    component: SAMPLE_COMPONENT,
  });
  await using client = await connect("2026-07-28", { url: new URL("/mcp", server.origin) });
  const { tools } = await client.client.listTools();
  expect(tools.map(({ name }) => name)).toContain("run_News_desk");
  const result = await client.call({ name: "run_News_desk", arguments: { task: "Hello." } });
  expect(result).toMatchObject({ content: [{ type: "text", text: "two" }] });
});
