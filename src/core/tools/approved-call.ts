import { type JsonObject, sortedJson } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { askHuman, type HumanApproval } from "../turn/human-approval.ts";
import type { AnyTool, ToolCallContext, ToolResult } from "./tool.ts";
import { textResult } from "./tool-result.ts";

type ToolExecution = AsyncGenerator<Message, ToolResult, void>;

/** A call that waits for approval. */
export interface PendingCall {
  tool: Pick<AnyTool, "schema">;
  approval: HumanApproval;
  /** The name in the call. */
  name: string;
  args: JsonObject;
  call: ToolCallContext;
  /** A sentence that the human reads below the question. */
  notice?: string;
}

/**
 * Asks a human, then makes the call, or returns the refusal as its result. When the human edited the arguments, the result
 * says so, because the model assumes its own.
 *
 * @param run makes the call with the given arguments
 * @param inLine runs the call after the earlier ones to the same tool. The question is asked before, so that all calls of
 * a reply can be answered at once.
 */
export async function* approvedCall(
  { tool, approval, name, args, notice, call: { ctx, callId, caller = name } }: PendingCall,
  run: (args: JsonObject) => ToolExecution,
  inLine: (call: () => ToolExecution) => ToolExecution,
): ToolExecution {
  const { parameters } = tool.schema;
  const asked = askHuman(
    approval,
    {
      source: caller,
      prompt: `"${caller}" wants to call the tool "${name}".${notice === undefined ? "" : ` ${notice}`}`,
      toolCall: {
        name,
        arguments: args,
        ...(callId !== undefined && { callId }),
        ...(parameters && { parameters }),
      },
    },
    ctx,
  );
  // An earlier call to the same tool may end this one before it awaits the answer.
  asked.catch(() => undefined);
  return yield* inLine(async function* () {
    const { approved, reason, arguments: edited = args } = await asked;
    if (!approved) return textResult(name, refusal(reason), true);
    const result = yield* run(edited);
    return sortedJson(edited) === sortedJson(args) ? result : noting(edited, result);
  });
}

function refusal(reason: string): string {
  return `The tool call was not approved.${reason && ` Reason: ${reason}`}`;
}

function noting(edited: JsonObject, result: ToolResult): ToolResult {
  const note = `A human changed the arguments of this call to ${JSON.stringify(edited)}.`;
  return { ...result, result: [{ type: "TextResultContent", content: note }, ...result.result] };
}
