import { createMcpHandler, Server } from "@modelcontextprotocol/server";
import { NEVER_TOOL, RETRY_TOOLS } from "../worker/names.ts";

/**
 * The effects as tools of an MCP server, on the official SDK.
 *
 * @param effect has an effect, once for each key
 */
export function mcpTools(effect: (name: string, key: string) => string) {
  const tools = [...RETRY_TOOLS, NEVER_TOOL].map((name) => ({
    name,
    inputSchema: {
      type: "object" as const,
      properties: { what: { type: "string" } },
      required: ["what"],
    },
    annotations: { idempotentHint: name !== NEVER_TOOL },
  }));
  return createMcpHandler(() => {
    const server = new Server({ name: "effects", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools }));
    server.setRequestHandler("tools/call", ({ params }, { mcpReq }) => {
      const key = mcpReq._meta?.["troupe/idempotency-key"] as string;
      const text = effect(params.arguments?.["what"] as string, key);
      return { content: [{ type: "text", text }] };
    });
    return server;
  });
}
