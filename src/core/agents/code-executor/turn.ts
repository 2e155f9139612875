import { codeMetadata } from "../../code/code-block.ts";
import { shownOutput } from "../../messages/views.ts";
import { extractCodeBlocks } from "../../code/markdown-code.ts";
import { TroupeError } from "../../errors.ts";
import type {
  CodeExecutionEvent,
  CodeGenerationEvent,
  ThoughtEvent,
} from "../../messages/agent-events.ts";
import type { TextMessage } from "../../messages/chat-messages.ts";
import { asEvents, chunkEvents, createMessage } from "../../messages/create.ts";
import type { ChatMessage, Message } from "../../messages/message.ts";
import { assistantMessage, type TextResult } from "../../models/assistant-message.ts";
import { callModel, streamModel } from "../../turn/call-model.ts";
import type { ChatCompletionClient, CreateResult } from "../../models/chat-completion-client.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import type { AgentResponse } from "../chat-agent.ts";
import { modelMessages, remember } from "../../context/base-chat-completion-context.ts";
import {
  readRetryDecision,
  RETRY_DECISION,
  type RetryDecision,
  retryQuestion,
} from "./retry-decision.ts";
import { runCode } from "./run-code.ts";
import type { ExecutorSettings } from "./settings.ts";

/** A code executor agent that has a model. */
type CoderSettings = ExecutorSettings & { modelClient: ChatCompletionClient };

/** One answer of an agent that writes its code itself: write, run, retry if needed, and report the result. */
export class CoderTurn {
  readonly #settings: CoderSettings;
  readonly #ctx: TurnContext;
  readonly #thoughts: ThoughtEvent[] = [];
  #modelCalls = 0;

  constructor(settings: CoderSettings, ctx: TurnContext) {
    this.#settings = settings;
    this.#ctx = ctx;
  }

  async *respond(messages: readonly ChatMessage[]): AsyncGenerator<Message, AgentResponse, void> {
    const { name: source, languages, maxRetries, modelContext } = this.#settings;
    for (let attempt = 0; ; attempt++) {
      // As in AutoGen, each attempt repeats the task.
      remember(modelContext, messages);
      const { content } = yield* this.#ask();
      const blocks = extractCodeBlocks(content, languages);
      if (blocks.length === 0) {
        return { chatMessage: this.#text(content, null), innerMessages: null };
      }
      yield this.#generated(content, blocks, attempt);
      const id = this.#ctx.id();
      const { files, images, ...result } = yield* runCode(
        this.#settings,
        blocks,
        { attempt, id },
        this.#ctx,
      );
      modelContext.addMessage({
        content: shownOutput({ output: result.output, images }),
        source,
        type: "UserMessage",
      });
      yield createMessage<CodeExecutionEvent>(this.#ctx, {
        type: "CodeExecutionEvent",
        id,
        source,
        metadata: codeMetadata({ files }),
        retry_attempt: attempt,
        result,
      });
      if (result.exit_code === 0 || attempt === maxRetries) break;
      const { retry, reason } = await this.#decide(result.output);
      if (!retry) break;
      const next = `Attempt number: ${attempt + 1}\nProposed correction: ${reason}`;
      yield this.#generated(next, [], attempt);
    }
    const { content, usage } = yield* this.#ask();
    // Code and its results are shown and do not count for conditions and the thread, as in AutoGen.
    return { chatMessage: this.#text(content, usage), innerMessages: this.#thoughts };
  }

  /** Calls the model with its context and adds the reply to it. */
  async *#ask(): AsyncGenerator<Message, TextResult, void> {
    const { name: source, modelClient, modelContext, stream } = this.#settings;
    const ctx = this.#ctx;
    const key = this.#modelKey();
    const messages = await modelMessages(this.#settings, ctx, key);
    let result: CreateResult;
    if (stream) {
      const messageId = ctx.id();
      const chunk = chunkEvents(ctx, source, messageId, null);
      result = yield* asEvents(streamModel(ctx, key, modelClient, messages, { messageId }), chunk);
    } else {
      result = await callModel(ctx, key, modelClient, messages);
    }
    const text = this.#textOf(result);
    if (text.thought) yield this.#think(text.thought);
    modelContext.addMessage(assistantMessage(text, source));
    return text;
  }

  /** The question is not added to the context and is sent without the system message, which demands code. */
  async #decide(output: string): Promise<RetryDecision> {
    const { name: source, prompts } = this.#settings;
    const key = this.#modelKey();
    const input = { ...this.#settings, systemMessage: null };
    const context = await modelMessages(input, this.#ctx, key);
    const reply = await callModel(
      this.#ctx,
      key,
      this.#settings.modelClient,
      [...context, { content: retryQuestion(prompts, output), source, type: "UserMessage" }],
      { jsonOutput: RETRY_DECISION },
    );
    return readRetryDecision(this.#textOf(reply).content, source);
  }

  #modelKey(): string {
    return `model:${this.#modelCalls++}`;
  }

  #textOf(result: CreateResult): TextResult {
    const { content } = result;
    if (typeof content === "string") return { ...result, content };
    throw new TroupeError(
      "no_text",
      `the model of "${this.#settings.name}" was asked for text and answered with tool calls`,
    );
  }

  #think(content: string): ThoughtEvent {
    const thought = createMessage<ThoughtEvent>(this.#ctx, {
      type: "ThoughtEvent",
      source: this.#settings.name,
      content,
    });
    this.#thoughts.push(thought);
    return thought;
  }

  #generated(
    content: string,
    code_blocks: CodeGenerationEvent["code_blocks"],
    retry_attempt: number,
  ): CodeGenerationEvent {
    return createMessage<CodeGenerationEvent>(this.#ctx, {
      type: "CodeGenerationEvent",
      source: this.#settings.name,
      retry_attempt,
      content,
      code_blocks,
    });
  }

  #text(content: string, models_usage: TextMessage["models_usage"]): TextMessage {
    return createMessage<TextMessage>(this.#ctx, {
      type: "TextMessage",
      source: this.#settings.name,
      content,
      models_usage,
    });
  }
}
