import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import type { ComponentModel, JsonObject } from "troupe";

/** A call as the MCP server of the tests saw it. */
export interface McpCall {
  name: string;
  key: string;
}

/** What the server of the tests does with a call. */
export type McpAnswer = (call: McpCall) => Promise<string>;

const state: { calls: McpCall[]; lists: number; answer: McpAnswer } = {
  calls: [],
  lists: 0,
  answer: async () => "done",
};

/** The calls that the server has seen, and how often its tools were listed. */
export const mcpServer: Readonly<Pick<typeof state, "calls" | "lists">> = state;

/** Forgets what was seen, and answers in this way from now on. */
export function answerMcp(answer: McpAnswer): void {
  state.calls.length = 0;
  state.lists = 0;
  state.answer = answer;
}

const tool = (name: string, readOnlyHint: boolean) => ({
  name,
  inputSchema: { type: "object" as const },
  annotations: { readOnlyHint },
});

const handler = createMcpHandler(() => {
  const server = new Server({ name: "test", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => {
    state.lists++;
    return { tools: [tool("look", true), tool("pay", false)] };
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const { "troupe/idempotency-key": key } = (mcpReq._meta ?? {}) as JsonObject;
    const call = { name: params.name, key: key as string };
    state.calls.push(call);
    return { content: [{ type: "text", text: await state.answer(call) }] };
  });
  return server;
});

/** Reaches the server, which runs in this isolate. */
export const mcpFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> =>
  handler.fetch(new Request(input, init));

/** A workbench of that server. */
export function mcpWorkbench(config: JsonObject = {}): ComponentModel {
  return {
    provider: "autogen_ext.tools.mcp.McpWorkbench",
    config: {
      server_params: { type: "StreamableHttpServerParams", url: "http://mcp.test/mcp" },
      ...config,
    },
  };
}
