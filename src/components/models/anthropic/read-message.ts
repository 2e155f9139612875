import type { Message } from "@anthropic-ai/sdk/resources/messages";
import type { CreateResult } from "../../../core/models/chat-completion-client.ts";
import type { FunctionCall } from "../../../core/models/llm-messages.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import type { ModelNames } from "../chat/reply.ts";
import { resultOf, usageOf } from "./reply.ts";
import { signedTurn } from "./signed-turn.ts";

/**
 * Reads the body of an answer that was not streamed.
 *
 * @param body not validated: its type is only what it should be
 * @param answerTool the name of the tool whose arguments are the answer
 * @throws ModelError `bad_response` when it is not a message
 */
export function readMessage(
  body: unknown,
  { model, family }: ModelNames,
  answerTool: string | undefined,
): CreateResult {
  const message = body as Partial<Message> | string | null | undefined;
  if (message === null || message === undefined || message === "")
    throw new ModelError("bad_response", "The model server's answer is empty");
  if (typeof message === "string")
    throw new ModelError("bad_response", "The model server did not answer with JSON");
  if (!Array.isArray(message.content))
    throw new ModelError("bad_response", "The model server's answer has no content");
  let text = "";
  let thinking: string | null = null;
  const toolCalls: FunctionCall[] = [];
  for (const block of message.content) {
    if (block.type === "text") text += block.text;
    else if (block.type === "thinking") thinking = (thinking ?? "") + block.thinking;
    else if (block.type === "tool_use")
      toolCalls.push({
        id: block.id,
        name: block.name,
        arguments: JSON.stringify(block.input ?? {}),
      });
  }
  const { stop_reason: stopReason, usage } = message;
  return resultOf(
    {
      text,
      thinking: thinking || null,
      toolCalls,
      stopReason,
      usage: usageOf(usage),
      troupe: signedTurn(message.content, model),
    },
    family,
    answerTool,
  );
}
