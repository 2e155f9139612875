import * as z from "zod";
import { componentModelSchema } from "../component/component-model.ts";
import {
  type AnyComponentDefinition,
  componentDefinition,
  dumpComponent,
} from "../component/component.ts";
import type { ChatCompletionContext } from "../context/chat-completion-context.ts";
import {
  remember,
  UnboundedChatCompletionContext,
  preparedMessages,
} from "../context/base-chat-completion-context.ts";
import { TroupeError } from "../errors.ts";
import { jsonObjectSchema } from "../json-object.ts";
import type { JsonObject } from "../json.ts";
import type { HandoffMessage, TextMessage } from "../messages/chat-messages.ts";
import { createMessage } from "../messages/create.ts";
import { PASSES_ON } from "../messages/handed-to.ts";
import { isChatMessage, toModelMessage } from "../messages/views.ts";
import type { ChatMessage, Message } from "../messages/message.ts";
import { callModel } from "../turn/call-model.ts";
import type { ChatCompletionClient } from "../models/chat-completion-client.ts";
import type { RequestUsage } from "../models/request-usage.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import { modelClientPart } from "../models/model-client-part.ts";
import { runInner } from "../run/inner-run.ts";
import type { Member } from "../run/runnable.ts";
import type { TurnContext } from "../turn/turn-context.ts";
import { loadAll, parseState, statefulAt, stateSchemaOf } from "../state/load-state.ts";
import type { StateParts } from "../state/stateful.ts";
import type { Team } from "./team.ts";
import { BaseChatAgent } from "../agents/base-chat-agent.ts";
import type { AgentResponse } from "../agents/chat-agent.ts";
import {
  aModelClient,
  aModelContext,
  aTeam,
  aText,
  checkOptions,
  type OptionsSchema,
} from "../options/options.ts";

const DESCRIPTION = "An agent that has a team of its own work out what it answers.";
const INSTRUCTION =
  "You were given a request, and a team of yours has been working on it. What its members said follows, in order.";
const RESPONSE_PROMPT =
  "Answer the request now, with all that belongs to the result. Whoever reads your answer has not seen what the team said and knows of no team, so the answer has to stand by itself.";

const configSchema = z.object({
  name: z.string(),
  team: componentModelSchema,
  model_client: componentModelSchema,
  description: z.string().nullish(),
  instruction: z.string().nullish(),
  response_prompt: z.string().nullish(),
  model_context: componentModelSchema.nullish(),
});

const stateSchema = stateSchemaOf("SocietyOfMindAgentState").extend({
  inner_team_state: jsonObjectSchema.default({}),
  troupe: z.object({ llm_context: jsonObjectSchema.optional() }).optional(),
});

export interface SocietyOfMindAgentOptions {
  /** An identifier, unique in the team. */
  name: string;
  /** Works on every request from the beginning: it is reset after each answer. */
  team: Team;
  /** Writes the answer. */
  modelClient: ChatCompletionClient;
  description?: string | undefined;
  /** The model's instructions before the team's messages. */
  instruction?: string | undefined;
  /** The model's instructions after the team's messages. */
  responsePrompt?: string | undefined;
  /** Selects the earlier requests that the team gets. Default: all of them. */
  modelContext?: ChatCompletionContext | undefined;
}

const optionsSchema: OptionsSchema<SocietyOfMindAgentOptions> = z.object({
  name: aText,
  team: aTeam,
  modelClient: aModelClient,
  description: aText.optional(),
  instruction: aText.optional(),
  responsePrompt: aText.optional(),
  modelContext: aModelContext.optional(),
});

/**
 * An agent whose answers a team works out (AutoGen `SocietyOfMindAgent`). The team's messages stream out while it works;
 * then a model writes one answer from them, the only message that other agents get.
 *
 * @example
 * const mind = new SocietyOfMindAgent({ name: "mind", team: new RoundRobinGroupChat([writer, critic]), modelClient });
 */
export class SocietyOfMindAgent extends BaseChatAgent {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.agents.SocietyOfMindAgent",
    componentType: "agent",
    role: "agent",
    version: 1,
    configSchema,
    fromConfig: (config, loader) =>
      new SocietyOfMindAgent({
        name: config.name,
        team: loader.load<Team>(config.team, "team", "team"),
        modelClient: loader.load<ChatCompletionClient>(
          config.model_client,
          "model",
          "model_client",
        ),
        ...(config.description && { description: config.description }),
        ...(config.instruction && { instruction: config.instruction }),
        ...(config.response_prompt && { responsePrompt: config.response_prompt }),
        ...(config.model_context && {
          modelContext: loader.load<ChatCompletionContext>(
            config.model_context,
            "chat_completion_context",
            "model_context",
          ),
        }),
      }),
  });

  readonly definition = SocietyOfMindAgent.component;
  readonly producedMessageTypes = ["TextMessage"];
  /** The requests so far. */
  readonly modelContext: ChatCompletionContext;
  readonly #team: Team;
  readonly #modelClient: ChatCompletionClient;
  readonly #instruction: string;
  readonly #responsePrompt: string;

  /** @throws ValueError for a bad name and unknown options */
  constructor(options: SocietyOfMindAgentOptions) {
    checkOptions(optionsSchema, options, "SocietyOfMindAgent");
    super(options.name, options.description ?? DESCRIPTION);
    this.modelContext = options.modelContext ?? new UnboundedChatCompletionContext();
    this.#team = options.team;
    this.#modelClient = options.modelClient;
    this.#instruction = options.instruction ?? INSTRUCTION;
    this.#responsePrompt = options.responsePrompt ?? RESPONSE_PROMPT;
  }

  get members(): readonly Member[] {
    return this.#team.members ?? [];
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const task = [...(await this.#earlier(ctx)), ...messages].map((one) => this.#passedOn(one));
    const result = yield* runInner(
      this.#team,
      { messages: task.length > 0 ? task : null, outputTaskMessages: false },
      ctx.scope("team"),
    );
    const answer =
      result.messages.length > 0
        ? await this.#sumUp(result.messages, ctx)
        : { content: "No response." };
    remember(this.modelContext, messages);
    await this.#team.reset(ctx.scope("reset"));
    const source = this.name;
    return {
      chatMessage: createMessage<TextMessage>(ctx, { type: "TextMessage", source, ...answer }),
      innerMessages: [],
    };
  }

  async onReset(ctx: TurnContext): Promise<void> {
    await this.#team.reset(ctx);
    this.modelContext.clear();
  }

  override onPause(): Promise<void> {
    return this.#team.onPause();
  }

  override onResume(): Promise<void> {
    return this.#team.onResume();
  }

  override close(): Promise<void> {
    return this.#team.close();
  }

  /** AutoGen's `SocietyOfMindAgentState`; AutoGen forgets the requests. */
  override saveState(): JsonObject {
    return {
      type: "SocietyOfMindAgentState",
      version: "1.0.0",
      inner_team_state: this.#team.saveState(),
      troupe: { llm_context: this.modelContext.saveState() },
    };
  }

  /** @throws StateError; then nothing has changed. A state that AutoGen saved leaves the earlier requests as they are. */
  override loadState(state: JsonObject): void {
    const data = parseState(stateSchema, state, `the state of "${this.name}"`);
    const context = data.troupe?.llm_context;
    loadAll([
      [statefulAt("inner_team_state", this.#team), data.inner_team_state],
      ...(context === undefined
        ? []
        : ([[statefulAt("troupe.llm_context", this.modelContext), context]] as const)),
    ]);
  }

  stateParts(): StateParts {
    return {
      children: {
        team: this.#team,
        context: this.modelContext,
        ...modelClientPart(this.#modelClient),
      },
    };
  }

  toConfig(): JsonObject {
    return {
      name: this.name,
      team: dumpComponent(this.#team),
      model_client: dumpComponent(this.#modelClient),
      description: this.description,
      instruction: this.#instruction,
      response_prompt: this.#responsePrompt,
      model_context: dumpComponent(this.modelContext),
    };
  }

  /**
   * A handoff to this agent goes to the team as a whole, so that a swarm does not look for a member as the target. Its members
   * do not answer it with a handoff: the answer is this agent's.
   */
  #passedOn(message: ChatMessage): ChatMessage {
    if (message.type !== "HandoffMessage" || message.target !== this.name) return message;
    const metadata = { ...message.metadata, [PASSES_ON]: "true" };
    return { ...message, target: this.#team.name, metadata };
  }

  /** Earlier requests, as a handoff to this agent itself. AutoGen gives no target, which a swarm refuses. */
  async #earlier(ctx: TurnContext): Promise<ChatMessage[]> {
    const context = await preparedMessages(this.modelContext, this.#modelClient, ctx, "earlier");
    if (context.length === 0) return [];
    return [
      createMessage<HandoffMessage>(ctx, {
        type: "HandoffMessage",
        source: this.name,
        content: "relevant previous messages",
        target: this.name,
        context,
      }),
    ];
  }

  /** @throws TroupeError `no_text` */
  async #sumUp(
    said: readonly Message[],
    ctx: TurnContext,
  ): Promise<{ content: string; models_usage: RequestUsage }> {
    const { content, usage } = await callModel(ctx, "model:0", this.#modelClient, [
      this.#direction(this.#instruction),
      ...said.filter(isChatMessage).map(toModelMessage),
      this.#direction(this.#responsePrompt),
    ]);
    if (typeof content === "string") return { content, models_usage: usage };
    throw new TroupeError(
      "no_text",
      `the model of "${this.name}" was asked for text and answered with tool calls`,
    );
  }

  /** A system message, for models that take more than one. */
  #direction(content: string): LLMMessage {
    return this.#modelClient.modelInfo.multipleSystemMessages
      ? { content, type: "SystemMessage" }
      : { content, source: "user", type: "UserMessage" };
  }
}
