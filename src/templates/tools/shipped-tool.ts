import type { AnyTool } from "../../core/tools/tool.ts";
import { variantOf } from "../../core/tools/tool-variant.ts";

/**
 * A tool of the shipped templates. Its JSON has no source code: a FunctionTool with source code is never one of ours,
 * even under the same name.
 */
export function shippedTool(tool: AnyTool): AnyTool {
  const { name, description } = tool;
  return variantOf(tool, { toConfig: () => ({ name, description }) });
}
