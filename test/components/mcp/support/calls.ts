import type { JsonObject, McpWorkbench, ToolCallContext, ToolResult } from "troupe";
import { outcome, RecordingHost } from "../../../core/support/recording-host.ts";

/** A call of a workbench's tool in a turn of a host. */
export async function call(
  workbench: McpWorkbench,
  name: string,
  args: JsonObject = {},
  host = new RecordingHost(),
  more: Partial<ToolCallContext> = {},
) {
  const ctx = host.attempt();
  const { items, result, error } = await outcome(
    workbench.callTool(name, args, { ctx, callId: "1", caller: "clerk", ...more }),
  );
  if (result === undefined) throw error;
  return { items, result };
}

/** The texts of a result. */
export function textsOf({ result }: ToolResult): string[] {
  return result.map((part) => (part.type === "TextResultContent" ? part.content : "[image]"));
}
