import { beginningOf } from "../../core/cut.ts";
import type { CreateResult } from "../../core/models/chat-completion-client.ts";
import { isFile } from "../../core/models/attached-files.ts";
import type { FunctionCall, LLMMessage } from "../../core/models/llm-messages.ts";

/** The longest text; the rest is cut off. */
const LONGEST_TEXT = 4_000;
/** The most messages of a request; earlier ones are left out. */
const MOST_MESSAGES = 50;

interface Message {
  role: "system" | "user" | "assistant" | "tool";
  parts: object[];
  finish_reason?: string;
}

/** The value of `gen_ai.input.messages`: JSON text. */
export function inputMessages(messages: readonly LLMMessage[]): string {
  return JSON.stringify(messages.slice(-MOST_MESSAGES).map(inputMessage));
}

/** The value of `gen_ai.output.messages`. @param result as a step records it @returns null if it is not an answer */
export function outputMessages(result: unknown): string | null {
  const { content, thought, finish_reason } = (result ?? {}) as Partial<CreateResult>;
  if (typeof content !== "string" && !Array.isArray(content)) return null;
  const parts = [
    ...(thought ? [{ type: "reasoning", content: cut(thought) }] : []),
    ...(typeof content === "string" ? [text(content)] : content.map(call)),
  ];
  const answer: Message = { role: "assistant", parts, ...(finish_reason && { finish_reason }) };
  return JSON.stringify([answer]);
}

function inputMessage(message: LLMMessage): Message {
  switch (message.type) {
    case "SystemMessage":
      return { role: "system", parts: [text(message.content)] };
    case "UserMessage": {
      const { content } = message;
      const contentParts = typeof content === "string" ? [content] : content;
      const parts = contentParts.map((part) => {
        if (typeof part === "string") return text(part);
        return isFile(part)
          ? { type: "blob", modality: "document", mime_type: part.media_type }
          : { type: "blob", modality: "image" };
      });
      return { role: "user", parts };
    }
    case "AssistantMessage": {
      const { content } = message;
      return {
        role: "assistant",
        parts: typeof content === "string" ? [text(content)] : content.map(call),
      };
    }
    case "FunctionExecutionResultMessage":
      return {
        role: "tool",
        parts: message.content.map(({ call_id, content }) => ({
          type: "tool_call_response",
          id: call_id,
          response: cut(content),
        })),
      };
  }
}

function call({ id, name, arguments: args }: FunctionCall): object {
  return { type: "tool_call", id, name, arguments: cut(args) };
}

function text(content: string): object {
  return { type: "text", content: cut(content) };
}

function cut(content: string): string {
  return content.length <= LONGEST_TEXT ? content : `${beginningOf(content, LONGEST_TEXT)}…`;
}
