import { ValueError } from "../../errors.ts";
import { type Json, type JsonObject, isJsonObject, parseJson } from "../../json.ts";
import { fitted } from "../../json-schema/fit.ts";
import type { Citation } from "../../memory/memory-host.ts";
import type { Message } from "../../messages/message.ts";
import type { ToolSchema } from "../../models/chat-completion-client.ts";
import type { FunctionCall, FunctionExecutionResult } from "../../models/llm-messages.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import { resultText } from "../../tools/tool-result.ts";
import { calledTool, type OfferedTool } from "./offered-tools.ts";
import type { AssistantSettings } from "./settings.ts";
import { jsonErrorMessage } from "../../text/json-error.ts";

/** The results of a model's tool calls. */
export interface ExecutedCalls {
  /** One per call, in the order of the calls. */
  results: FunctionExecutionResult[];
  /** Messages of agents used as tools, call by call, without chunks. */
  said: Message[];
  /** True if the client made one of the calls. */
  byClient: boolean;
  /** Parts of documents that were found, call by call. */
  citations: Citation[];
}

/** The data of one call besides its result. */
interface CallRecord {
  said: Message[];
  byClient: boolean;
  citations: Citation[];
}

/** Runs the calls concurrently and yields the messages of agents used as tools as they arrive. Failures are results. */
export async function* executeCalls(
  settings: AssistantSettings,
  calls: readonly FunctionCall[],
  offered: readonly OfferedTool[],
  iteration: number,
  ctx: TurnContext,
): AsyncGenerator<Message, ExecutedCalls, void> {
  const records: CallRecord[] = calls.map(() => ({
    said: [],
    byClient: false,
    citations: [],
  }));
  const results = yield* ctx.all<Message, FunctionExecutionResult>(
    calls.map((call, index) => ({
      // Models reuse call ids.
      key: `tool:${iteration}:${index}`,
      // A tool under way finishes, and so do the agents in it.
      deaf: true,
      run: (scope) => executeCall(settings, call, offered, records[index] as CallRecord, scope),
    })),
    // As in AutoGen, agents used as tools speak one after the other when none of them has to wait.
    { inTurn: true },
  );
  return {
    results,
    said: records.flatMap(({ said }) => said),
    byClient: records.some(({ byClient }) => byClient),
    citations: records.flatMap(({ citations }) => citations),
  };
}

async function* executeCall(
  { name: caller, workbenches, ownTools, handoffOf, skills }: AssistantSettings,
  call: FunctionCall,
  offered: readonly OfferedTool[],
  record: CallRecord,
  ctx: TurnContext,
): AsyncGenerator<Message, FunctionExecutionResult, void> {
  const parsed = parseArguments(call.arguments);
  if ("error" in parsed) return executed(call, parsed.error, true);
  const handoff = handoffOf.get(call.name);
  if (handoff !== undefined) return executed(call, handoff.message, false);
  const own = calledTool(offered, call.name);
  if (own === undefined && skills?.allows(call.name) === false) {
    const text = `Error: the skill that was loaded does not name the tool '${call.name}', so it cannot be called until the end of this turn`;
    return executed(call, text, true);
  }
  const tool = own?.schema ?? ctx.clientTools.find(({ name }) => name === call.name);
  const args = tool?.parameters ? fitted(parsed.args, tool.parameters) : parsed.args;
  const workbench = own && [...workbenches, ...ownTools][own.place];
  if (own === undefined || workbench === undefined) {
    if (tool !== undefined) {
      record.byClient = true;
      return askClient(tool, { call, args, caller }, ctx);
    }
    return executed(call, `Error: tool '${call.name}' not found in any workbench`, true);
  }
  const items = workbench.callTool(own.name, args, {
    ctx,
    callId: call.id,
    caller,
    cite: (citations) => void record.citations.push(...citations),
  });
  let next = await items.next();
  while (!next.done) {
    if (next.value.type !== "ModelClientStreamingChunkEvent") record.said.push(next.value);
    yield next.value;
    next = await items.next();
  }
  return executed(call, resultText(next.value), next.value.is_error);
}

/** The client makes the call: the run waits for its result as for the answer to a question. */
async function askClient(
  { name, parameters }: ToolSchema,
  { call, args, caller }: { call: FunctionCall; args: JsonObject; caller: string },
  ctx: TurnContext,
): Promise<FunctionExecutionResult> {
  const answer = await ctx.ask({
    id: ctx.id(),
    kind: "tool",
    source: caller,
    prompt: "",
    toolCall: { name, arguments: args, callId: call.id, ...(parameters && { parameters }) },
  });
  if (!("content" in answer)) {
    throw new ValueError(`"${caller}" called a tool of the client and got an approval`);
  }
  const { content, is_error = false } = answer;
  return executed(call, typeof content === "string" ? content : JSON.stringify(content), is_error);
}

function executed(call: FunctionCall, content: string, isError: boolean): FunctionExecutionResult {
  return { content, name: call.name, call_id: call.id, is_error: isError };
}

/** A tool call's arguments, or the error for the model. */
export type ParsedArguments = { args: JsonObject } | { error: string };

/**
 * Parses the arguments of a model's call. No text and empty values (`null`, `[]`, `""`, `0`, `false`) become an empty object;
 * in AutoGen, no text is invalid JSON.
 */
export function parseArguments(text: string): ParsedArguments {
  let value: Json;
  try {
    value = parseJson(text.trim() || "{}");
  } catch {
    return { error: `Error: ${jsonErrorMessage(text)}` };
  }
  if (isJsonObject(value)) return { args: value };
  if (!value || (Array.isArray(value) && value.length === 0)) return { args: {} };
  return { error: "Error: the arguments of a tool call must be a JSON object" };
}
