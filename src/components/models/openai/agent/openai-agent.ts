import { BaseChatAgent } from "../../../../core/agents/base-chat-agent.ts";
import type { AgentResponse, ChatAgent } from "../../../../core/agents/chat-agent.ts";
import {
  type ComponentDefinition,
  dumpComponent,
  withoutNulls,
} from "../../../../core/component/component.ts";
import { UnboundedChatCompletionContext } from "../../../../core/context/base-chat-completion-context.ts";
import { TroupeError, ValueError } from "../../../../core/errors.ts";
import { asJson, type Json, type JsonObject } from "../../../../core/json.ts";
import type { ThoughtEvent } from "../../../../core/messages/agent-events.ts";
import type { TextMessage } from "../../../../core/messages/chat-messages.ts";
import { createMessage } from "../../../../core/messages/create.ts";
import type { ChatMessage, Message } from "../../../../core/messages/message.ts";
import { toModelMessage } from "../../../../core/messages/views.ts";
import { assistantMessage } from "../../../../core/models/assistant-message.ts";
import { callModel } from "../../../../core/turn/call-model.ts";
import type {
  ChatCompletionClient,
  CreateResult,
} from "../../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../../core/models/llm-messages.ts";
import { optionsOf, parseOptions } from "../../../../core/options/option-names.ts";
import type { TurnContext } from "../../../../core/turn/turn-context.ts";
import { parseState } from "../../../../core/state/load-state.ts";
import type { StateParts } from "../../../../core/state/stateful.ts";
import { type OutgoingDependencies, Secrets } from "../../../../outgoing/dependencies.ts";
import { knownModel } from "../../catalogue/hosted-models.ts";
import { unknownModelNotes } from "../../catalogue/known-model.ts";
import { resolveHeaders } from "../../client/client-config.ts";
import { keyNotes } from "../../client/model-address.ts";
import { openAIAddress } from "../address.ts";
import { openAINotes } from "../notes.ts";
import { OpenAIChatCompletionClient } from "../openai-client.ts";
import {
  type OpenAIAgentConfig,
  openAIAgentConfigSchema,
  type OpenAIAgentOptions,
  openAIAgentOptionsSchema,
  toolsOf,
} from "./config.ts";
import { conversationOf, historyOf, isInHistory, openAIAgentStateSchema } from "./state.ts";

const definition = {
  provider: "autogen_ext.agents.openai.OpenAIAgent",
  componentType: "agent",
  role: "agent",
  version: 1,
} as const;

/**
 * An agent that answers by OpenAI's Responses API with tools that OpenAI runs: web and file search, the code interpreter,
 * images, MCP servers (AutoGen `OpenAIAgent`). The conversation is kept here, and nothing at OpenAI.
 *
 * @throws ValueError naming the option that cannot be used
 * @example
 * const searcher = new OpenAIAgent({
 *   name: "searcher",
 *   description: "Searches the web.",
 *   model: "gpt-5.6",
 *   instructions: "Answer with sources.",
 *   tools: ["web_search"],
 * });
 */
export class OpenAIAgent extends BaseChatAgent {
  /** @internal */
  static readonly component = openAIAgentDefinition;
  readonly definition: ChatAgent["definition"] = definition;
  readonly producedMessageTypes = ["TextMessage"];
  readonly #config: Omit<OpenAIAgentConfig, "model_client">;
  readonly #tools: JsonObject[];
  readonly #givenClient: ChatCompletionClient | undefined;
  readonly #client: ChatCompletionClient;
  readonly #dependencies: OutgoingDependencies;
  readonly #context = new UnboundedChatCompletionContext();
  /** The response that OpenAI stored for AutoGen's agent, until the next answer. */
  #responseId: string | null = null;

  constructor(
    { modelClient, ...options }: OpenAIAgentOptions,
    dependencies: OutgoingDependencies = {},
  ) {
    const config = parseOptions(openAIAgentOptionsSchema, options, "OpenAIAgent");
    super(config.name, config.description);
    this.#config = config;
    this.#tools = toolsOf(config);
    this.#givenClient = modelClient;
    this.#client =
      modelClient ??
      new OpenAIChatCompletionClient({ model: config.model, api: "responses" }, dependencies);
    this.#dependencies = dependencies;
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const source = this.name;
    const earlier = await this.#context.getMessages();
    const added = messages.flatMap(modelMessagesOf);
    for (const message of added) this.#context.addMessage(message);
    const result = await this.#ask(earlier, added, ctx);
    const { content, usage, thought } = result;
    if (typeof content !== "string")
      throw new TroupeError(
        "no_text",
        `the model of "${source}" called a function that it does not have`,
      );
    this.#responseId = null;
    this.#context.addMessage(assistantMessage(result, source));
    const inner: Message[] = [];
    if (thought) {
      const event = createMessage<ThoughtEvent>(ctx, {
        type: "ThoughtEvent",
        source,
        content: thought,
      });
      inner.push(event);
      yield event;
    }
    const fields = { type: "TextMessage", source, content, models_usage: usage } as const;
    return { chatMessage: createMessage<TextMessage>(ctx, fields), innerMessages: inner };
  }

  onReset(_ctx: TurnContext): Promise<void> {
    this.#context.clear();
    this.#responseId = null;
    return Promise.resolve();
  }

  override saveState(): JsonObject {
    const context = this.#context.saveState();
    const messages = context["messages"] as LLMMessage[];
    return {
      type: "OpenAIAgentState",
      response_id: this.#responseId,
      history: historyOf(messages),
      ...(!messages.every(isInHistory) && { troupe: { llm_context: context } }),
    };
  }

  override loadState(state: JsonObject): void {
    const data = parseState(openAIAgentStateSchema, state, `the state of "${this.name}"`);
    const { response_id, history, troupe } = data;
    const messages = asJson(conversationOf(history, this.name));
    this.#context.loadState(troupe?.llm_context ?? { messages });
    this.#responseId = response_id ?? null;
  }

  stateParts(): StateParts {
    const head = {
      save: () => ({ response_id: this.#responseId }),
      load: (value: Json) => {
        this.#responseId = (value as { response_id: string | null }).response_id;
      },
    };
    return { head, children: { context: this.#context } };
  }

  toConfig(): JsonObject {
    const client = this.#givenClient;
    return withoutNulls({
      ...this.#config,
      tools: this.#tools,
      model_client: client && dumpComponent(client),
    });
  }

  /** Continues from a response that OpenAI has stored, as AutoGen's agent does, or sends the whole conversation. */
  async #ask(
    earlier: readonly LLMMessage[],
    added: readonly LLMMessage[],
    ctx: TurnContext,
  ): Promise<CreateResult> {
    const options = {
      jsonOutput: this.#config.json_mode ? true : null,
      extraCreateArgs: this.#requestFields(),
    };
    const ask = (key: string, messages: readonly LLMMessage[], fields: JsonObject) => {
      const extraCreateArgs = { ...options.extraCreateArgs, ...fields };
      return callModel(ctx, key, this.#client, messages, { ...options, extraCreateArgs });
    };
    const previous_response_id = this.#responseId;
    if (previous_response_id !== null) {
      try {
        return await ask("model:continued", added, { previous_response_id });
      } catch (error) {
        if (!isForgotten(error)) throw error;
      }
    }
    const conversation = [...earlier, ...added];
    const { instructions } = this.#config;
    const hasOwn = conversation.some(({ type }) => type === "SystemMessage");
    const system: LLMMessage[] =
      instructions === "" || hasOwn ? [] : [{ type: "SystemMessage", content: instructions }];
    return ask("model", [...system, ...conversation], {});
  }

  /** The fields of every request besides the conversation. */
  #requestFields(): JsonObject {
    const { temperature, max_output_tokens, truncation } = this.#config;
    return withoutNulls({
      tools: this.#tools.length > 0 ? this.#tools.map((tool) => this.#withSecrets(tool)) : null,
      // The default of AutoGen and of the API. Reasoning models refuse the field.
      temperature: temperature === 1 ? null : temperature,
      max_output_tokens,
      truncation: truncation === "disabled" ? null : truncation,
    });
  }

  /** The headers of an MCP server that OpenAI calls, with their secrets resolved. */
  #withSecrets(tool: JsonObject): JsonObject {
    const { headers, server_url: url } = tool;
    if (typeof url !== "string" || typeof headers !== "object" || headers === null) return tool;
    const secrets = new Secrets(this.#dependencies, url, tool);
    const resolved = resolveHeaders(headers as Record<string, string>, (value) =>
      secrets.resolve(value),
    );
    return { ...tool, headers: resolved };
  }
}

/** The messages for a model: texts of "system" and "assistant" have these roles, as in AutoGen. */
function modelMessagesOf(message: ChatMessage): LLMMessage[] {
  if (message.type === "TextMessage") {
    const { content, source } = message;
    if (source === "system") return [{ type: "SystemMessage", content }];
    if (source === "assistant")
      return [{ type: "AssistantMessage", content, thought: null, source }];
  }
  const context = message.type === "HandoffMessage" ? message.context : [];
  return [...context, toModelMessage(message)];
}

/**
 * OpenAI stores responses for 30 days, and only on request. A turn that runs again has only the code and the message.
 */
function isForgotten(error: unknown): boolean {
  return (
    error instanceof TroupeError &&
    error.code === "model_bad_request" &&
    /previous.response/i.test(error.message)
  );
}

const CLIENTS = /\.(Azure)?OpenAIChatCompletionClient$/;

function openAIAgentDefinition(
  dependencies: OutgoingDependencies,
): ComponentDefinition<OpenAIAgentConfig, OpenAIAgent> {
  return {
    ...definition,
    configSchema: openAIAgentConfigSchema,
    fromConfig({ model_client, ...config }, loader) {
      const options = optionsOf(openAIAgentOptionsSchema, config);
      if (model_client == null) return new OpenAIAgent(options, dependencies);
      const asked = { ...model_client.config, model: config.model, api: "responses" };
      const modelClient = loader.load<ChatCompletionClient>(
        { ...model_client, config: asked },
        "model",
        "model_client",
      );
      if (!CLIENTS.test(modelClient.definition.provider)) {
        const message =
          "must be an OpenAIChatCompletionClient or an AzureOpenAIChatCompletionClient";
        throw new ValueError(`model_client ${message}`, {
          issues: [{ path: "model_client", message }],
        });
      }
      return new OpenAIAgent({ ...options, modelClient }, dependencies);
    },
    notes(config) {
      const { model, temperature, model_client } = config;
      const catalogued = knownModel(model);
      const address = openAIAddress({ model }, dependencies);
      return [
        ...unknownModelNotes(config, catalogued),
        ...openAINotes({ model, temperature, api: "responses" }, catalogued, true),
        ...(model_client == null
          ? keyNotes(null, address, dependencies).map((note) => ({ ...note, path: "config.model" }))
          : []),
      ];
    },
  };
}
