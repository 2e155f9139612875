import { type CreateResult, type LLMMessage, ReplayChatCompletionClient } from "troupe";

const modelInfo = {
  vision: false,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  family: "unknown",
};

type Reply = string | CreateResult;

/** A model whose answers may depend on what it reads, and which shows what that was. */
export class Model extends ReplayChatCompletionClient {
  readonly read: (readonly LLMMessage[])[] = [];
  readonly #replies: (Reply | ((messages: readonly LLMMessage[]) => Reply))[];

  constructor(...replies: (Reply | ((messages: readonly LLMMessage[]) => Reply))[]) {
    super(["unused"], { modelInfo });
    this.#replies = replies;
  }

  override create(messages: readonly LLMMessage[]): Promise<CreateResult> {
    this.read.push(messages);
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error("the model has no answer left");
    const answer = typeof reply === "function" ? reply(messages) : reply;
    if (typeof answer !== "string") return Promise.resolve(answer);
    const usage = { prompt_tokens: 5, completion_tokens: 1 };
    return Promise.resolve({ finish_reason: "stop", content: answer, usage, cached: false });
  }
}

/** An answer that calls one tool. */
export function call(name: string, args: object): CreateResult {
  return {
    finish_reason: "function_calls",
    content: [{ id: "1", name, arguments: JSON.stringify(args) }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
  };
}
