import type { JsonObject } from "troupe";
import { writer } from "../../api/protocols/support/teams.ts";

/** An agent whose model is called again with the results of its tools. */
export function chatAgent(config: JsonObject = {}): JsonObject {
  return writer({ max_tool_iterations: 5, ...config });
}
