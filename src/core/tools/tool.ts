import * as z from "zod";
import type { Component } from "../component/component.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Citation } from "../memory/memory-host.ts";
import type { TaskFile } from "../messages/task-files.ts";
import type { Message } from "../messages/message.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { imageSchema } from "../models/llm-messages.ts";
import type { HumanApproval } from "../turn/human-approval.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { StepPolicy, TraceContext } from "../steps/step-attempt.ts";
import type { RunContext } from "../turn/run-context.ts";
import type { Approved, TurnContext } from "../turn/turn-context.ts";
import type { Stateful } from "../state/stateful.ts";

export const resultContentSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("TextResultContent"), content: z.string() }),
  z.object({ type: z.literal("ImageResultContent"), content: imageSchema }),
]);
export type ResultContent = z.infer<typeof resultContentSchema>;

export const toolResultSchema = z.object({
  type: z.literal("ToolResult").default("ToolResult"),
  name: z.string(),
  result: z.array(resultContentSchema),
  is_error: z.boolean().default(false),
});
/** The result of a workbench's tool call (AutoGen `ToolResult`). */
export type ToolResult = z.infer<typeof toolResultSchema>;

/** The context of a tool call. */
export interface ToolCallContext<Env = object> {
  /** A scope per call. A composite tool (an agent as a tool) runs its agents in this scope. */
  ctx: TurnContext<Env>;
  /** The model's id of the call, which is not unique. */
  callId: string | undefined;
  /** The name of the calling agent, for approval requests. */
  caller?: string;
  /** Takes the parts of documents that the calling agent's answer is to cite. */
  cite?: ((citations: readonly Citation[]) => void) | undefined;
  /** The approval of the call; undefined for a call without one. */
  approval?: Approved | undefined;
  /** The messages of a composite tool are not streamed (AutoGen `run`, not `run_stream`). Default false. */
  unseen?: boolean;
}

/** The common part of all tools. */
export interface BaseTool extends Component, Partial<Stateful> {
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  /** A human is asked before calls ({@link withApproval}). */
  readonly approval?: HumanApproval;
  /** The arguments as the call gets them, for rules of approval. Left out, they are those of the model in the types of the schema. */
  received?(args: JsonObject): JsonObject;
  /** A returned value as text for the model. */
  valueAsText(value: Json): string;
}

/** A leaf tool: one effect. The caller makes the step around it. Errors it throws become error results. */
export interface Tool extends BaseTool {
  /** The treatment of an interrupted call after a restart. Default `never`; `retry` for reads and idempotent tools. */
  readonly policy: StepPolicy;
  /**
   * The time for which a call is repeated after an error that says it may pass (`retryable: true`; `outage: true` if the
   * server is away). Calls of the policies `never` and `ask` are repeated only after an error that says that nothing was
   * sent (`unsent: true`). Default: two minutes while a server is away.
   */
  readonly retry?: RetryPolicy | undefined;
  /** {@link StepOptions.remote} of its calls. */
  readonly remote?: boolean;
  /** @param args checked against the schema by the tool @param call the running step's attempt */
  run(args: JsonObject, call: ToolRun): Promise<Json>;
}

/** The context of a leaf tool's call. */
export interface ToolRun<Env = object> {
  /** {@link TurnContext.env} */
  env: Env;
  /** {@link TurnContext.run} */
  run: RunContext;
  /** {@link TurnContext.files} */
  files?: readonly TaskFile[] | undefined;
  signal: AbortSignal;
  idempotencyKey: string;
  /** {@link StepAttempt.session} */
  session?: string | undefined;
  /** {@link StepAttempt.trace} */
  trace?: TraceContext | undefined;
  /** {@link StepAttempt.hops} */
  hops?: number | undefined;
  callId: string | undefined;
  /** The approval of the call: by, at and rule. Undefined for a call without one. */
  approval?: Approved | undefined;
}

/**
 * A composite tool: it runs agents or teams, or several steps of its own, in the scope of the call, and yields their
 * messages (AutoGen `BaseStreamTool`). It is not a step itself.
 */
export interface StreamTool extends BaseTool {
  runStream(args: JsonObject, call: ToolCallContext): AsyncGenerator<Message, Json, void>;
  /** Forwarded to the agents inside. */
  onPause?(): Promise<void>;
  onResume?(): Promise<void>;
  close?(): Promise<void>;
}

export type AnyTool = Tool | StreamTool;

export function isStreamTool(tool: AnyTool): tool is StreamTool {
  return "runStream" in tool;
}
