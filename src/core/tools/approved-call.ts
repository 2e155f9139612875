import { ValueError } from "../errors.ts";
import { type JsonObject, sortedJson } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { askHuman, type HumanApproval } from "../turn/human-approval.ts";
import type { Approved } from "../turn/turn-context.ts";
import type { AnyTool, ToolCallContext, ToolResult } from "./tool.ts";
import { textResult } from "./tool-result.ts";

type ToolExecution = AsyncGenerator<Message, ToolResult, void>;

/** A call that waits for approval. */
export interface PendingCall {
  tool: Pick<AnyTool, "schema" | "received">;
  /** {@link JudgedCall.component} */
  component: unknown;
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
  { tool, component, approval, name, args, notice, call }: PendingCall,
  run: (args: JsonObject, approval: Approved | undefined) => ToolExecution,
  inLine: (call: () => ToolExecution) => ToolExecution,
): ToolExecution {
  const { parameters } = tool.schema;
  const { ctx, callId, caller = name } = call;
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
    { tool: name, step: "call", arguments: args, values: [received(tool, args)], component },
  );
  // An earlier call to the same tool may end this one before it awaits the answer.
  asked.catch(() => undefined);
  return yield* inLine(async function* () {
    const { approved, reason, arguments: edited = args, approval: by } = await asked;
    if (!approved) return textResult(name, refusal(reason), true);
    const result = yield* run(edited, by);
    return sortedJson(edited) === sortedJson(args) ? result : noting(edited, result);
  });
}

/** Arguments that the tool refuses are judged as they are: it says what is wrong with them. */
function received(tool: PendingCall["tool"], args: JsonObject): JsonObject {
  try {
    return tool.received?.(args) ?? args;
  } catch (error) {
    if (error instanceof ValueError) return args;
    throw error;
  }
}

function refusal(reason: string): string {
  return `The tool call was not approved.${reason && ` Reason: ${reason}`}`;
}

function noting(edited: JsonObject, result: ToolResult): ToolResult {
  const note = `A human changed the arguments of this call to ${JSON.stringify(edited)}.`;
  return { ...result, result: [{ type: "TextResultContent", content: note }, ...result.result] };
}
