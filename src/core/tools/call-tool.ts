import { errorMessage } from "../errors.ts";
import { hash64 } from "../hash.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { outlookOf } from "../steps/retry.ts";
import { rethrowSignal, TurnSignal } from "../steps/signals.ts";
import type { StepAttempt } from "../steps/step-attempt.ts";
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
  const failed = (error: unknown): Recorded =>
    recorded(textResult(name, errorText(error), true, maxBytes));
  const { result } = await call.ctx.step<Recorded>(
    "call",
    async (attempt) => {
      try {
        const value = await tool.run(args, {
          env: call.ctx.env,
          run: call.ctx.run,
          get files() {
            return attempt.files;
          },
          signal: attempt.signal,
          idempotencyKey: attempt.idempotencyKey,
          session: attempt.session,
          trace: attempt.trace,
          hops: attempt.hops,
          callId: call.callId,
          approval: call.approval,
        });
        return recorded(textResult(name, tool.valueAsText(value), false, maxBytes));
      } catch (error) {
        if (isForStep(error, attempt)) throw error;
        return failed(error);
      }
    },
    {
      kind: "tool",
      policy: tool.policy,
      remote: tool.remote,
      retry: () => tool.retry,
      exhausted: failed,
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

/**
 * True for an error that goes to the step, which decides about another attempt: cancellation, and what another attempt
 * may resolve. All other errors become results.
 *
 * @throws a signal
 */
export function isForStep(error: unknown, { signal }: Pick<StepAttempt, "signal">): boolean {
  rethrowSignal(error);
  return signal.aborted || outlookOf(error).retryable;
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
