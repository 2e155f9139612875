import type { HumanRequest } from "../../../contract/run.ts";

/** A question as a text for a human: the prompt, and the tool call or the code that it is about. */
export function questionText({
  source,
  prompt,
  tool_call,
  code,
}: Omit<HumanRequest, "context">): string {
  const call = tool_call && `${tool_call.name}(${JSON.stringify(tool_call.arguments)})`;
  const parts = [prompt === "" ? `${source} asks for input.` : prompt, call, code];
  return parts.filter((part) => part !== undefined).join("\n\n");
}
