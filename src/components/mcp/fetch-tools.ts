import { isForModels } from "./answers/lists.ts";
import { McpError } from "./answers/mcp-error.ts";
import type { McpSession, SessionUse } from "./connection/session.ts";
import type { McpTool } from "./tool-list.ts";

/** More tools than a model can choose from. */
const MAX_TOOLS = 500;

/** The most characters of JSON. The list is part of every model call and is recorded. */
const MAX_LIST_LENGTH = 1_000_000;

/**
 * The tools that a server offers to models, all pages.
 *
 * @throws McpError when the server cannot be asked, or its list exceeds a limit
 */
export function fetchTools(session: McpSession, use: SessionUse): Promise<McpTool[]> {
  return session.use(use, async (client, timeout) => {
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const { tools } = await client.listTools(undefined, { signal: use.signal, timeout });
    if (tools.length > MAX_TOOLS) {
      throw new McpError(
        "mcp_protocol",
        `The MCP server lists ${tools.length} tools; at most ${MAX_TOOLS} can be used.`,
      );
    }
    const { length } = JSON.stringify(tools);
    if (length <= MAX_LIST_LENGTH) return (tools as McpTool[]).filter(isForModels);
    throw new McpError(
      "mcp_protocol",
      `The list of tools of the MCP server has ${length} characters; at most ${MAX_LIST_LENGTH} can be used.`,
    );
  });
}
