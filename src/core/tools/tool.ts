import * as z from "zod";
import type { Component } from "../component/component.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { imageSchema } from "../models/llm-messages.ts";
import type { HumanApproval } from "../run/human-approval.ts";
import type { StepPolicy, TurnContext } from "../run/turn-context.ts";
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

/** A call as it reaches a tool. */
export interface ToolCallContext {
  /** A scope of its own per call. A composite tool (an agent as a tool) runs what is inside it in this scope. */
  ctx: TurnContext;
  /** The model's id of the call; models repeat them. */
  callId: string | undefined;
  /** The name of the agent that calls, for a human who is asked to approve. */
  caller?: string;
  /** Nobody sees what a composite tool yields on the way (AutoGen `run`, not `run_stream`). Default false. */
  unseen?: boolean;
}

/** What all tools have. */
interface BaseTool extends Component, Partial<Stateful> {
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  /** A human is asked before each call ({@link withApproval}). */
  readonly approval?: HumanApproval;
  /** What the model reads of a returned value. */
  valueAsText(value: Json): string;
}

/**
 * A leaf tool: one effect. Whoever calls it makes the step; the tool itself only works.
 * Errors it throws become error results.
 */
export interface Tool extends BaseTool {
  /** What a restart does with a call that was under way. Default `never`; say `retry` for reads and idempotent tools. */
  readonly policy: StepPolicy;
  /** @param args checked against the schema by the tool @param call the running step's attempt */
  run(args: JsonObject, call: ToolRun): Promise<Json>;
}

/** What a leaf tool may use while it runs. */
export interface ToolRun {
  signal: AbortSignal;
  idempotencyKey: string;
  /** {@link StepAttempt.session} */
  session?: string | undefined;
  callId: string | undefined;
}

/**
 * A composite tool: it runs agents or teams, or takes several steps of its own, in the scope it is given, and
 * yields what they say (AutoGen `BaseStreamTool`). It is not a step itself.
 */
export interface StreamTool extends BaseTool {
  runStream(args: JsonObject, call: ToolCallContext): AsyncGenerator<Message, Json, void>;
  /** As of the agents inside. */
  onPause?(): Promise<void>;
  onResume?(): Promise<void>;
  close?(): Promise<void>;
}

export type AnyTool = Tool | StreamTool;

export function isStreamTool(tool: AnyTool): tool is StreamTool {
  return "runStream" in tool;
}
