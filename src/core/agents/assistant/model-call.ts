import { TroupeError } from "../../errors.ts";
import type { CreateOptions, CreateResult } from "../../models/chat-completion-client.ts";
import type { AssistantMessage, LLMMessage, UserMessage } from "../../models/llm-messages.ts";
import type { RequestUsage } from "../../models/request-usage.ts";

/** The next model call: its step key and its request. */
export interface ModelCall {
  key: string;
  messages: LLMMessage[];
  options: CreateOptions;
  /** The message whose text streams in. */
  messageId: string;
  /** True if the text is certain to be that message: the model is offered no tools. */
  isAnswer: boolean;
  /** True if the text replaces what an earlier call has streamed of the message. */
  replaces: boolean;
}

/** An answer that does not have the wanted form. */
export interface Unfit {
  /** The call that it answers. */
  call: ModelCall;
  answer: AssistantMessage;
  fault: string;
  usage: RequestUsage;
}

/** Asks once more for an answer in the wanted form; neither the question nor the answer before it is part of the context. */
export function repairCall({ call, answer, fault }: Unfit, messageId: string): ModelCall {
  const { key, messages, options } = call;
  const { jsonOutput, tools, declaredTools = tools } = options;
  const content = `Your answer cannot be used: ${fault}. Answer again, with the whole JSON object and nothing else.`;
  const question: UserMessage = { type: "UserMessage", source: "user", content };
  return {
    key: `${key}:repair`,
    messages: [...messages, answer, question],
    options: { jsonOutput, declaredTools, toolChoice: "none", fresh: true },
    messageId,
    isAnswer: true,
    replaces: true,
  };
}

/**
 * The reply of a reflection or a repair. The text beside calls, which clients give as the thought, is the answer: the calls are not made.
 *
 * @param agent its name
 * @throws TroupeError `no_text` for calls alone
 */
export function textReply(result: CreateResult, agent: string): CreateResult {
  if (typeof result.content === "string") return result;
  const { thought, troupe: _, ...rest } = result;
  if (thought?.trim()) return { ...rest, content: thought, thought: null, finish_reason: "stop" };
  throw new TroupeError(
    "no_text",
    `the model of "${agent}" was asked for text and answered with tool calls`,
  );
}
