import type { LLMMessage } from "troupe";

/** The calls without a result and the results without a call directly before them, as model servers look for them. */
export function loneParts(messages: readonly LLMMessage[]): string[] {
  const lone: string[] = [];
  let open: string[] = [];
  for (const message of messages) {
    if (message.type === "FunctionExecutionResultMessage") {
      for (const { call_id } of message.content) {
        const at = open.indexOf(call_id);
        if (at < 0) lone.push(`result ${call_id}`);
        else open.splice(at, 1);
      }
      if (message.content.length === 0) lone.push("no results");
      continue;
    }
    lone.push(...open.map((id) => `call ${id}`));
    open = [];
    if (message.type === "AssistantMessage" && typeof message.content !== "string") {
      open = message.content.map(({ id }) => id);
      if (open.length === 0) lone.push("no calls");
    }
  }
  return [...lone, ...open.map((id) => `call ${id}`)];
}
