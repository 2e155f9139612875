import { TroupeError } from "../../errors.ts";
import type {
  ModelClientStreamingChunkEvent,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
} from "../../messages/agent-events.ts";
import { chunkEvents, createMessage } from "../../messages/create.ts";
import type { ChatMessage, Message } from "../../messages/message.ts";
import type {
  CreateOptions,
  CreateResult,
  ToolSchema,
} from "../../models/chat-completion-client.ts";
import { assistantMessage, type CallsResult } from "../../models/assistant-message.ts";
import type { LLMMessage } from "../../models/llm-messages.ts";
import type { TurnContext } from "../../run/turn-context.ts";
import type { AgentResponse } from "../chat-agent.ts";
import { modelMessages, remember } from "../model-input.ts";
import { consultMemory } from "./memory.ts";
import { finalMessage, handoffMessage, summaryMessage } from "./responses.ts";
import type { AssistantSettings } from "./settings.ts";
import { executeCalls, type ListedTools, listTools } from "./tool-calls.ts";

/** The next model call: its step key and its request. */
export interface ModelCall {
  key: string;
  messages: LLMMessage[];
  options: CreateOptions;
  /** The message whose text streams in. */
  messageId: string;
}

/** The state machine of one answer of an assistant: makes model calls and handles their results. */
export class AssistantTurn {
  readonly #settings: AssistantSettings;
  readonly #ctx: TurnContext;
  readonly #inner: Message[] = [];
  #messageId: string;
  #chunk: (content: string) => ModelClientStreamingChunkEvent;
  #modelCalls = 0;
  #iterations = 0;
  #reflecting = false;
  #listed: ListedTools = [];
  /** The tools of the last call. */
  #declared: readonly ToolSchema[] = [];

  constructor(settings: AssistantSettings, ctx: TurnContext) {
    this.#settings = settings;
    this.#ctx = ctx;
    this.#messageId = ctx.id();
    this.#chunk = chunkEvents(ctx, settings.name, this.#messageId);
  }

  /** Adds the new messages to the context and queries the memories. */
  async *begin(messages: readonly ChatMessage[]): AsyncGenerator<Message, void, void> {
    remember(this.#settings.modelContext, messages);
    for (const event of await consultMemory(this.#settings, this.#ctx)) yield this.#say(event);
  }

  async nextCall(): Promise<ModelCall> {
    const number = this.#modelCalls++;
    const { answerForm } = this.#ctx;
    const wanted = answerForm?.agent === this.#settings.name ? answerForm : undefined;
    const jsonOutput = this.#settings.output?.jsonOutput ?? wanted?.jsonOutput ?? null;
    const messages = await modelMessages(this.#settings);
    const key = `model:${number}`;
    if (this.#reflecting) {
      const options: CreateOptions = {
        toolChoice: "none",
        jsonOutput,
        declaredTools: this.#declared,
      };
      return { key, messages, options, messageId: this.#messageId };
    }
    this.#listed = await listTools(this.#settings, this.#ctx, number);
    const own = [...this.#listed.flat(), ...this.#settings.handoffTools];
    const tools = [...own, ...this.#clientTools(own)];
    this.#declared = tools;
    const toolChoice = number === 0 ? wanted?.toolChoice : undefined;
    const options = { tools, jsonOutput, ...(toolChoice && { toolChoice }) };
    return { key, messages, options, messageId: this.#messageId };
  }

  /** A piece of the text that streams in, as an event. */
  chunk(content: string): ModelClientStreamingChunkEvent {
    return this.#chunk(content);
  }

  /** Handles a model's reply: the response, or undefined when the model must be called again. */
  async *follow(result: CreateResult): AsyncGenerator<Message, AgentResponse | undefined, void> {
    const { name, modelContext } = this.#settings;
    const { content, usage, thought } = result;
    if (this.#reflecting && typeof content !== "string") {
      throw new TroupeError(
        "no_text",
        `the model of "${name}" was asked for text and answered with tool calls`,
      );
    }
    if (thought) yield this.#say(this.#think(thought));
    modelContext.addMessage(assistantMessage(result, name));
    if (typeof content !== "string") return yield* this.#useTools({ ...result, content });
    return this.#respond(
      finalMessage(this.#settings, this.#ctx, {
        id: this.#messageId,
        content,
        usage,
        withFormat: !this.#reflecting,
      }),
    );
  }

  async *#useTools(reply: CallsResult): AsyncGenerator<Message, AgentResponse | undefined, void> {
    const settings = this.#settings;
    const ctx = this.#ctx;
    const source = settings.name;
    const { content: calls, usage } = reply;
    yield this.#say(
      createMessage<ToolCallRequestEvent>(ctx, {
        type: "ToolCallRequestEvent",
        source,
        content: calls,
        models_usage: usage,
      }),
    );
    const iteration = this.#iterations++;
    const { results, said, byClient } = yield* executeCalls(
      settings,
      calls,
      this.#listed,
      iteration,
      ctx,
    );
    settings.modelContext.addMessage({ content: results, type: "FunctionExecutionResultMessage" });
    this.#inner.push(...said);
    yield this.#say(
      createMessage<ToolCallExecutionEvent>(ctx, {
        type: "ToolCallExecutionEvent",
        source,
        content: results,
      }),
    );
    const executed = { reply, results };
    const handoff = handoffMessage(settings, ctx, executed);
    if (handoff !== undefined) return this.#respond(handoff);
    // A client that makes a call expects the model to go on with the result.
    if (byClient) return undefined;
    if (this.#iterations < settings.maxToolIterations) return undefined;
    if (!settings.reflectOnToolUse) return this.#respond(summaryMessage(settings, ctx, executed));
    this.#reflecting = true;
    this.#newMessage();
    return undefined;
  }

  /** Tools of the client, where the model can call any. The agent's own go before those of the same name. */
  #clientTools(own: readonly ToolSchema[]): readonly ToolSchema[] {
    if (!this.#settings.modelClient.modelInfo.functionCalling) return [];
    return this.#ctx.clientTools.filter(({ name }) => own.every((one) => one.name !== name));
  }

  #think(thought: string): ThoughtEvent {
    const event = createMessage<ThoughtEvent>(this.#ctx, {
      type: "ThoughtEvent",
      id: this.#reflecting ? this.#ctx.id() : this.#messageId,
      source: this.#settings.name,
      content: thought,
    });
    // Outside reflection the thought has taken the message's id (AutoGen does so).
    if (!this.#reflecting) this.#newMessage();
    return event;
  }

  #newMessage(): void {
    this.#messageId = this.#ctx.id();
    this.#chunk = chunkEvents(this.#ctx, this.#settings.name, this.#messageId);
  }

  #say<M extends Message>(message: M): M {
    this.#inner.push(message);
    return message;
  }

  #respond(message: ChatMessage): AgentResponse {
    return { chatMessage: message, innerMessages: this.#inner };
  }
}
