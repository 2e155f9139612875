import { errorMessage } from "../errors.ts";
import { hash64 } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { MAX_ATTEMPTS } from "../run/retry.ts";
import { rethrowSignal, TurnSignal } from "../run/signals.ts";
import type { StepAttempt } from "../run/turn-context.ts";
import { isStatefulTool } from "./stateful-tool.ts";
import {
  type AnyTool,
  isStreamTool,
  type StreamTool,
  type Tool,
  type ToolCallContext,
  type ToolResult,
} from "./tool.ts";
import { textResult } from "./tool-result.ts";

/** What is recorded of a leaf tool's call. Its state goes with it, because a replayed call does not run. */
interface Recorded {
  result: ToolResult;
  state?: JsonObject;
}

/**
 * Calls a tool: a leaf tool in a step, a composite one in the scope of the call. Its failures become error results,
 * which are recorded like any other, so that a repeated turn sees the same.
 *
 * @param name the name it was called by
 */
export function callTool(
  tool: AnyTool,
  name: string,
  args: JsonObject,
  call: ToolCallContext,
  maxBytes: number,
): AsyncGenerator<Message, ToolResult, void> {
  return isStreamTool(tool)
    ? callComposite(tool, name, args, call, maxBytes)
    : callLeaf(tool, name, args, call, maxBytes);
}

// oxlint-disable-next-line require-yield -- it has the shape of a composite call
async function* callLeaf(
  tool: Tool,
  name: string,
  args: JsonObject,
  call: ToolCallContext,
  maxBytes: number,
): AsyncGenerator<never, ToolResult, void> {
  const recorded = (result: ToolResult): Recorded =>
    isStatefulTool(tool) ? { result, state: tool.saveState() } : { result };
  const { result } = await call.ctx.step<Recorded>(
    "call",
    async (attempt) => {
      try {
        const value = await tool.run(args, {
          signal: attempt.signal,
          idempotencyKey: attempt.idempotencyKey,
          session: attempt.session,
          callId: call.callId,
        });
        return recorded(textResult(name, tool.valueAsText(value), false, maxBytes));
      } catch (error) {
        if (isForStep(tool, error, attempt)) throw error;
        return recorded(textResult(name, errorText(error), true, maxBytes));
      }
    },
    {
      policy: tool.policy,
      fingerprint: hash64(`${tool.name} ${JSON.stringify(args)}`),
      onReplay: ({ state }) => {
        if (state !== undefined) tool.loadState?.(state);
      },
      unknownOutcome: (message) => recorded(textResult(name, message, true, maxBytes)),
    },
  );
  return result;
}

/** Signals, cancelling and further attempts are the step's business, everything else is an answer to the model. */
function isForStep(tool: Tool, error: unknown, { attempt, signal }: StepAttempt): boolean {
  rethrowSignal(error);
  if (signal.aborted) return true;
  const retryable = error instanceof Error && "retryable" in error && error.retryable === true;
  return retryable && tool.policy === "retry" && attempt < MAX_ATTEMPTS;
}

async function* callComposite(
  tool: StreamTool,
  name: string,
  args: JsonObject,
  call: ToolCallContext,
  maxBytes: number,
): AsyncGenerator<Message, ToolResult, void> {
  try {
    const value = yield* tool.runStream(args, call);
    return textResult(name, tool.valueAsText(value), false, maxBytes);
  } catch (error) {
    rethrowSignal(error);
    if (call.ctx.signal.aborted) throw new TurnSignal("cancel");
    return textResult(name, errorText(error), true, maxBytes);
  }
}

/** Never empty: a model must see that something went wrong. */
function errorText(error: unknown): string {
  return errorMessage(error).trim() || "the tool failed without a message";
}
