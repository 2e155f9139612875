import { errorMessage } from "../errors.ts";
import { hash64 } from "../hash.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { MAX_ATTEMPTS } from "../steps/retry.ts";
import { rethrowSignal, TurnSignal } from "../steps/signals.ts";
import type { StepAttempt, StepPolicy } from "../steps/step-attempt.ts";
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

/** The recorded result of a leaf tool's call, with the tool's state, because a replayed call does not run. */
interface Recorded {
  result: ToolResult;
  state?: JsonObject;
}

/**
 * Calls a tool: a leaf tool in a step, a composite one in the scope of the call. Failures become error results, which are
 * recorded like others, so that a repeated turn sees the same.
 *
 * @param name the tool's name in the call
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

// oxlint-disable-next-line require-yield -- has the signature of a composite call
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
          env: call.ctx.env,
          signal: attempt.signal,
          idempotencyKey: attempt.idempotencyKey,
          session: attempt.session,
          trace: attempt.trace,
          callId: call.callId,
        });
        return recorded(textResult(name, tool.valueAsText(value), false, maxBytes));
      } catch (error) {
        if (isForStep(tool.policy, error, attempt)) throw error;
        return recorded(textResult(name, errorText(error), true, maxBytes));
      }
    },
    {
      kind: "tool",
      policy: tool.policy,
      subject: { name, ...(call.callId !== undefined && { call: call.callId }) },
      fingerprint: hash64(`${tool.name} ${JSON.stringify(args)}`),
      onReplay: ({ state }) => {
        if (state !== undefined) tool.loadState?.(state);
      },
      unknownOutcome: (message) => recorded(textResult(name, message, true, maxBytes)),
    },
  );
  return result;
}

/** Signals, cancellation and retryable errors go to the step; all other errors become results. */
export function isForStep(
  policy: StepPolicy,
  error: unknown,
  { attempt, signal }: StepAttempt,
): boolean {
  rethrowSignal(error);
  if (signal.aborted) return true;
  const retryable = error instanceof Error && "retryable" in error && error.retryable === true;
  return retryable && policy === "retry" && attempt < MAX_ATTEMPTS;
}

async function* callComposite(
  tool: StreamTool,
  name: string,
  args: JsonObject,
  call: ToolCallContext,
  maxBytes: number,
): AsyncGenerator<Message, ToolResult, void> {
  call.ctx.describe({ kind: "tool", name });
  try {
    const value = yield* tool.runStream(args, call);
    return textResult(name, tool.valueAsText(value), false, maxBytes);
  } catch (error) {
    rethrowSignal(error);
    if (call.ctx.signal.aborted) throw new TurnSignal("cancel");
    return textResult(name, errorText(error), true, maxBytes);
  }
}

/** Never empty, so that the model sees the failure. */
export function errorText(error: unknown): string {
  return errorMessage(error).trim() || "the tool failed without a message";
}
