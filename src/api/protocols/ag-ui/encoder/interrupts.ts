import type { HumanRequest } from "../../../../contract/run.ts";
import { type Interrupt, OWN } from "../wire/events.ts";

const INPUT = {
  type: "object",
  properties: { content: { type: "string" } },
  required: ["content"],
} as const;

/**
 * A question to a human as clients are asked it.
 *
 * @param call the id of the call that is to be approved, if clients know it
 */
export function interruptOf(request: HumanRequest, call: string | undefined): Interrupt {
  const { id, kind, source, prompt, code, tool_call, expires_at } = request;
  const about = {
    source,
    ...(code !== undefined && { code }),
    ...(tool_call !== undefined && {
      tool_call: { name: tool_call.name, arguments: tool_call.arguments },
    }),
  };
  const asksAboutCall = kind === "approval" && call !== undefined;
  return {
    id,
    reason: kind === "input" ? "input_required" : asksAboutCall ? "tool_call" : "confirmation",
    ...(prompt !== "" && { message: prompt }),
    ...(asksAboutCall && { toolCallId: call }),
    responseSchema: kind === "input" ? INPUT : approvalSchema(request),
    ...(expires_at !== null && { expiresAt: expires_at }),
    metadata: { [OWN]: about },
  };
}

/** Only a tool call has arguments that can be edited. */
function approvalSchema({ tool_call }: HumanRequest): object {
  return {
    type: "object",
    properties: {
      approved: { type: "boolean" },
      reason: { type: "string" },
      ...(tool_call !== undefined && { editedArgs: tool_call.parameters ?? { type: "object" } }),
    },
    required: ["approved"],
  };
}
