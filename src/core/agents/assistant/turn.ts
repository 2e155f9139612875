import { MessageError } from "../../errors.ts";
import type {
  ModelClientStreamingChunkEvent,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
  MemoryQueryEvent,
} from "../../messages/agent-events.ts";
import { chunkEvents, createMessage } from "../../messages/create.ts";
import type { ChatMessage, Message } from "../../messages/message.ts";
import type {
  CreateOptions,
  CreateResult,
  ToolSchema,
} from "../../models/chat-completion-client.ts";
import { assistantMessage, type CallsResult } from "../../models/assistant-message.ts";
import { citationsText } from "../../memories/collection-search.ts";
import type { Citation } from "../../memory/memory-host.ts";
import type { SystemMessage } from "../../models/llm-messages.ts";
import { addUsage } from "../../models/request-usage.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import type { AgentResponse } from "../chat-agent.ts";
import { modelMessages, remember } from "../../context/base-chat-completion-context.ts";
import { type ModelCall, repairCall, textReply, type Unfit } from "./model-call.ts";
import { finalMessage, handoffMessage, summaryMessage } from "./responses.ts";
import type { AssistantSettings } from "./settings.ts";
import { type OfferedTool, offerTools } from "./offered-tools.ts";
import { MOST_SEARCHES, type Offer } from "./tool-search.ts";
import { executeCalls } from "./tool-calls.ts";

/** The state machine of one answer of an assistant: makes model calls and handles their results. */
export class AssistantTurn {
  readonly #settings: AssistantSettings;
  readonly #ctx: TurnContext;
  readonly #inner: Message[] = [];
  readonly #citations: Citation[] = [];
  #messageId: string;
  /** A piece of the streamed text, as an event. */
  chunk: (content: string) => ModelClientStreamingChunkEvent;
  #modelCalls = 0;
  #iterations = 0;
  #reflecting = false;
  #lastCall: ModelCall | undefined;
  #unfit: Unfit | undefined;
  #offer: Offer = { listed: [], found: [], hidden: [] };
  #searches = 0;
  /** The tools of the last call. */
  #declared: readonly ToolSchema[] = [];

  constructor(settings: AssistantSettings, ctx: TurnContext) {
    this.#settings = settings;
    this.#ctx = ctx;
    this.#messageId = ctx.id();
    this.chunk = chunkEvents(ctx, settings.name, this.#messageId);
  }

  /** Adds the new messages to the context and queries the memories. */
  async *begin(messages: readonly ChatMessage[]): AsyncGenerator<Message, void, void> {
    remember(this.#settings.modelContext, messages);
    this.#observe(messages);
    await this.#settings.skills?.beginTurn(this.#ctx.scope("skills"));
    for (const event of await this.#consultMemory()) yield this.#say(event);
  }

  /** Adds what was sent into the run since the last call, or since that was cut, to the context. */
  hear(): void {
    // A request for a repair does not contain the context.
    if (this.#unfit) return;
    const messages = this.#ctx.steering(`steering:${this.#modelCalls}`);
    if (messages.length === 0) return;
    remember(this.#settings.modelContext, messages);
    this.#observe(messages);
  }

  /** The last call was cut, because a message has come into the run: the model is asked again, with the message. */
  wasCut(): void {
    this.#unfit = undefined;
  }

  async nextCall(): Promise<ModelCall> {
    this.#lastCall = this.#unfit
      ? repairCall(this.#unfit, this.#messageId)
      : await this.#askModel();
    return this.#lastCall;
  }

  async #askModel(): Promise<ModelCall> {
    const number = this.#modelCalls++;
    const { answerForm } = this.#ctx;
    const wanted = answerForm?.agent === this.#settings.name ? answerForm : undefined;
    const jsonOutput = this.#settings.output?.jsonOutput ?? wanted?.jsonOutput ?? null;
    const stop = wanted?.stop && { stop: wanted.stop };
    const key = `model:${number}`;
    if (number > 0) await this.#prepareMemory(number);
    const input = { ...this.#settings, systemMessage: this.#systemMessage() };
    const messages = await modelMessages(input, this.#ctx, key);
    if (this.#reflecting) {
      const options: CreateOptions = {
        toolChoice: "none",
        jsonOutput,
        declaredTools: this.#declared,
        ...stop,
      };
      return { key, messages, options, ...this.#target(true) };
    }
    if (this.#settings.hasTools) this.#offer = await offerOf(this.#settings, this.#ctx, number);
    const { listed, found, hidden } = this.#offer;
    const own = [...schemasOf(listed), ...this.#settings.handoffTools];
    const later = schemasOf(found);
    const tools = [
      ...own,
      ...this.#clientTools([...own, ...later, ...schemasOf(hidden)]),
      ...later,
    ];
    this.#declared = tools;
    const toolChoice = this.#iterations === 0 ? wanted?.toolChoice : undefined;
    const options = { tools, jsonOutput, ...(toolChoice && { toolChoice }), ...stop };
    return { key, messages, options, ...this.#target(tools.length === 0) };
  }

  #target(isAnswer: boolean): Pick<ModelCall, "messageId" | "isAnswer" | "replaces"> {
    return { messageId: this.#messageId, isAnswer, replaces: false };
  }

  /** Handles a model's reply: the response, or undefined when the model must be called again. */
  async *follow(result: CreateResult): AsyncGenerator<Message, AgentResponse | undefined, void> {
    const { name, modelContext } = this.#settings;
    const wantsText = this.#reflecting || this.#unfit !== undefined;
    const reply = wantsText ? textReply(result, name) : result;
    const { content, usage, thought } = reply;
    const answer = assistantMessage(reply, name);
    const fault = typeof content === "string" ? this.#faultOf(content) : undefined;
    if (fault !== undefined && this.#unfit === undefined && this.#lastCall !== undefined) {
      this.#unfit = { call: this.#lastCall, answer, fault, usage };
      return undefined;
    }
    if (thought) yield this.#say(this.#think(thought));
    modelContext.addMessage(answer);
    if (typeof content !== "string") return yield* this.#useTools({ ...reply, content });
    return this.#respond(
      finalMessage(this.#settings, this.#ctx, {
        id: this.#messageId,
        content,
        usage: this.#unfit === undefined ? usage : addUsage(this.#unfit.usage, usage),
        withFormat: !this.#reflecting,
      }),
    );
  }

  /** Why an answer does not have the wanted form. */
  #faultOf(content: string): string | undefined {
    try {
      this.#settings.output?.parse(content);
      return undefined;
    } catch (error) {
      if (error instanceof MessageError) return error.message;
      throw error;
    }
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
    const { listed, found, hidden } = this.#offer;
    const callable = [...listed, ...found, ...hidden];
    const iteration = this.#iterations++;
    const { results, said, byClient, citations } = yield* executeCalls(
      settings,
      calls,
      callable,
      iteration,
      ctx,
    );
    settings.modelContext.addMessage({ content: results, type: "FunctionExecutionResultMessage" });
    this.#inner.push(...said);
    this.#citations.push(...citations);
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
    // A client that makes a call expects the model to continue with the result.
    if (byClient) return undefined;
    if (this.#isSearch(calls)) return undefined;
    if (this.#iterations - this.#searches < settings.maxToolIterations) return undefined;
    if (!settings.reflectOnToolUse) return this.#respond(summaryMessage(settings, ctx, executed));
    this.#reflecting = true;
    this.#newMessage();
    return undefined;
  }

  /** True if a round of calls only searched for tools or read skills: the model is called again, and the round does not count. */
  #isSearch(calls: CallsResult["content"]): boolean {
    const { toolSearch, skills } = this.#settings;
    const names = calls.map(({ name }) => name);
    toolSearch?.called(names);
    const isFree = names.every(
      (name) => toolSearch?.isSearch([name]) === true || skills?.isReading([name]) === true,
    );
    if (!isFree || this.#searches === MOST_SEARCHES) return false;
    this.#searches++;
    return true;
  }

  /**
   * Tools of the client, if the model supports tools. The agent's own tools take precedence over those with the same
   * name.
   */
  #clientTools(own: readonly ToolSchema[]): readonly ToolSchema[] {
    if (!this.#settings.modelClient.modelInfo.functionCalling) return [];
    const { skills } = this.#settings;
    return this.#ctx.clientTools.filter(
      ({ name }) => own.every((one) => one.name !== name) && skills?.allows(name) !== false,
    );
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
    this.chunk = chunkEvents(this.#ctx, this.#settings.name, this.#messageId);
  }

  #observe(messages: readonly ChatMessage[]): void {
    for (const memory of this.#settings.memory) memory.observe?.(messages);
  }

  #say<M extends Message>(message: M): M {
    this.#inner.push(message);
    return message;
  }

  #respond(message: ChatMessage): AgentResponse {
    this.#observe([message]);
    return { chatMessage: this.#citing(message), innerMessages: this.#inner };
  }

  /** The answer with what it was found in. A handoff is not an answer. */
  #citing(message: ChatMessage): ChatMessage {
    if (this.#citations.length === 0 || message.type === "HandoffMessage") return message;
    const metadata = { ...message.metadata, citations: citationsText(this.#citations) };
    return { ...message, metadata };
  }

  /** @param number counts the model calls of the turn */
  async #prepareMemory(number: number): Promise<void> {
    for (const [index, memory] of this.#settings.memory.entries()) {
      await memory.beforeCall?.(this.#ctx.scope(`memory:${index}:${number}`));
    }
  }

  /** The agent's own system message, followed by what its memories always show. */
  #systemMessage(): SystemMessage | null {
    const { systemMessage, memory, skills } = this.#settings;
    const texts = [...memory, ...(skills ? [skills] : [])].flatMap(
      (one) => one.systemText?.(this.#ctx) ?? [],
    );
    if (texts.length === 0) return systemMessage;
    const content = [...(systemMessage ? [systemMessage.content] : []), ...texts].join("\n\n");
    return { content, type: "SystemMessage" };
  }

  /** Lets every memory add to the model context; one event per memory with results. */
  async #consultMemory(): Promise<MemoryQueryEvent[]> {
    const { name: source, memory, modelContext } = this.#settings;
    const ctx = this.#ctx;
    const cite = (citations: readonly Citation[]) => void this.#citations.push(...citations);
    const events: MemoryQueryEvent[] = [];
    for (const [index, store] of memory.entries()) {
      const scope = ctx.scope(`memory:${index}`);
      const content = await store.updateContext(modelContext, scope, cite);
      if (content.length === 0) continue;
      events.push(
        createMessage<MemoryQueryEvent>(ctx, { type: "MemoryQueryEvent", source, content }),
      );
    }
    return events;
  }
}

function schemasOf(tools: readonly OfferedTool[]): ToolSchema[] {
  return tools.map(({ schema }) => schema);
}

/** Lists the tools of all workbenches. */
async function offerOf(
  { workbenches, ownTools, handoffTools, toolSearch, skills }: AssistantSettings,
  ctx: TurnContext,
  modelCall: number,
): Promise<Offer> {
  const listed: ToolSchema[][] = [];
  for (const [index, workbench] of [...workbenches, ...ownTools].entries()) {
    listed.push(await workbench.listTools({ ctx: ctx.scope(`tools:${modelCall}:${index}`) }));
  }
  const tools = listed.every(({ length }) => length === 0) ? [] : offerTools(listed, handoffTools);
  const offer = toolSearch?.offer(tools, workbenches.length, ctx) ?? {
    listed: tools,
    found: [],
    hidden: [],
  };
  if (skills === undefined) return offer;
  return skills.narrow(offer, workbenches.length + ownTools.indexOf(skills.workbench), ctx);
}
