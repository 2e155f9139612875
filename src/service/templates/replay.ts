import { AssistantAgent } from "../../core/agents/assistant/assistant-agent.ts";
import type { CreateResult } from "../../core/models/chat-completion-client.ts";
import { ReplayChatCompletionClient } from "../../core/models/clients/replay-chat-completion-client.ts";

/** The delay per word, so that a text can be read while it is written. */
const WORD_MS = 35;

/** A model that repeats these answers, one per call, at reading speed. */
export function replaying(answers: readonly (string | CreateResult)[]): ReplayChatCompletionClient {
  return new ReplayChatCompletionClient(answers, {
    cycle: true,
    chunkDelayMs: WORD_MS,
    modelInfo: {
      vision: false,
      functionCalling: true,
      jsonOutput: true,
      structuredOutput: false,
      family: "unknown",
    },
  });
}

/** An answer that calls a tool. @param id unique in the conversation */
export function calling(id: string, name: string, args: object = {}): CreateResult {
  return {
    finish_reason: "function_calls",
    content: [{ id, name, arguments: JSON.stringify(args) }],
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    cached: false,
  };
}

/** An agent that repeats prepared texts. @param description also its instructions */
export function repeating(
  name: string,
  description: string,
  answers: readonly string[],
): AssistantAgent {
  return new AssistantAgent({
    name,
    description,
    systemMessage: description,
    modelClient: replaying(answers),
    modelClientStream: true,
  });
}
