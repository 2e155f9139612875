import { type AnyComponentDefinition, componentDefinition } from "../../component/component.ts";
import type { ChatCompletionContext } from "../../context/chat-completion-context.ts";
import type { JsonObject } from "../../json.ts";
import type { ChatMessage, Message } from "../../messages/message.ts";
import { callModel, streamModel } from "../../turn/call-model.ts";
import { checkOptions } from "../../options/options.ts";
import type { CreateResult } from "../../models/chat-completion-client.ts";
import { wasSteered } from "../../turn/steering.ts";
import type { TurnContext } from "../../turn/turn-context.ts";
import type { StructuredOutput } from "../../run/task-result.ts";
import type { StateParts } from "../../state/stateful.ts";
import { formatNotes } from "../../text/check-format.ts";
import {
  assistantConfigSchema,
  assistantNotes,
  configOf,
  optionsFromConfig,
  upgradeConfig,
} from "./config.ts";
import { type AssistantAgentOptions, assistantOptionsSchema } from "./options.ts";
import { type AssistantSettings, settingsOf } from "./settings.ts";
import { assistantParts, loadAssistant, saveAssistant } from "./state.ts";
import { AssistantTurn } from "./turn.ts";
import { BaseChatAgent } from "../base-chat-agent.ts";
import type { AgentResponse } from "../chat-agent.ts";
import { MessageError, ValueError } from "../../errors.ts";
import { listIssues } from "../../issues.ts";
import { checkedBySchema } from "../../json-schema/object-schema.ts";
import { StructuredMessageFactory } from "../../messages/structured-message-factory.ts";
import { endEarly } from "../../wait.ts";

const DESCRIPTION = "An agent that answers with the help of tools.";

/**
 * An agent that answers with a model (AutoGen `AssistantAgent`): it may consult memories, call tools in one or more
 * rounds, reflect on their results or summarise them, hand over to another agent, and answer with text or with
 * structured content.
 *
 * @example
 * const weather = new AssistantAgent({ name: "weather", modelClient, tools: [forecast], reflectOnToolUse: true });
 */
export class AssistantAgent<Output = unknown> extends BaseChatAgent {
  static readonly component: AnyComponentDefinition = componentDefinition({
    provider: "autogen_agentchat.agents.AssistantAgent",
    componentType: "agent",
    role: "agent",
    version: 2,
    configSchema: assistantConfigSchema,
    upgrade: upgradeConfig,
    fromConfig: (config, loader) => new AssistantAgent(optionsFromConfig(config, loader)),
    notes: (config, loader) => [
      ...formatNotes("config", { tool_call_summary_format: config.tool_call_summary_format }),
      ...assistantNotes(config, loader),
    ],
  });

  readonly definition = AssistantAgent.component;
  readonly producedMessageTypes: readonly string[];
  /** Present with `outputContentType`. */
  readonly structuredOutput: StructuredOutput<Output> | undefined;
  readonly #settings: AssistantSettings;

  /** @throws ValueError for a bad name, for unknown options and for options that contradict each other */
  constructor(options: AssistantAgentOptions<Output>) {
    const settings = settingsOf(
      checkOptions(assistantOptionsSchema, options, "AssistantAgent"),
      AssistantAgent.component,
    );
    super(options.name, options.description ?? DESCRIPTION);
    this.#settings = settings;
    this.structuredOutput = structuredOutputOf(options.outputContentType, settings);
    const { output } = this.#settings;
    this.producedMessageTypes = [
      "TextMessage",
      "ToolCallSummaryMessage",
      "HandoffMessage",
      ...(output === undefined ? [] : [output.messageType]),
    ];
  }

  get modelContext(): ChatCompletionContext {
    return this.#settings.modelContext;
  }

  async *onMessagesStream(
    messages: readonly ChatMessage[],
    ctx: TurnContext,
  ): AsyncGenerator<Message, AgentResponse, void> {
    const { modelClientStream: stream, modelClient } = this.#settings;
    const turn = new AssistantTurn(this.#settings, ctx);
    yield* turn.begin(messages);
    for (;;) {
      turn.hear();
      const call = await turn.nextCall();
      let result: CreateResult;
      try {
        if (stream) {
          const { messageId, isAnswer, replaces } = call;
          const options = { ...call.options, messageId, isAnswer, replaces, steerable: true };
          const pieces = streamModel(ctx, call.key, modelClient, call.messages, options);
          // Inlined, without `yield*`: each layer between client and team costs time per chunk.
          try {
            let next = await pieces.next();
            while (!next.done) {
              yield turn.chunk(next.value);
              next = await pieces.next();
            }
            result = next.value;
          } finally {
            await endEarly(pieces);
          }
        } else {
          const options = { ...call.options, steerable: true };
          result = await callModel(ctx, call.key, modelClient, call.messages, options);
        }
      } catch (error) {
        if (!wasSteered(error)) throw error;
        turn.wasCut();
        continue;
      }
      const response = yield* turn.follow(result);
      if (response !== undefined) return response;
    }
  }

  onReset(_ctx: TurnContext): Promise<void> {
    this.#settings.modelContext.clear();
    return Promise.resolve();
  }

  override async onPause(): Promise<void> {
    for (const workbench of this.#settings.workbenches) await workbench.onPause?.();
  }

  override async onResume(): Promise<void> {
    for (const workbench of this.#settings.workbenches) await workbench.onResume?.();
  }

  override async close(): Promise<void> {
    const { workbenches, memory } = this.#settings;
    for (const part of [...workbenches, ...memory]) await part.close();
  }

  override saveState(): JsonObject {
    return saveAssistant(this.#settings);
  }

  override loadState(state: JsonObject): void {
    loadAssistant(this.#settings, state);
  }

  stateParts(): StateParts {
    return assistantParts(this.#settings);
  }

  toConfig(): JsonObject {
    return configOf(this.#settings, this.description);
  }
}

/** Reads the structured answers of an assistant: parsed by its schema, or as plain JSON without one. */
function structuredOutputOf<Output>(
  type: AssistantAgentOptions<Output>["outputContentType"],
  { name, output }: AssistantSettings,
): StructuredOutput<Output> | undefined {
  if (output === undefined) return undefined;
  return {
    read(message) {
      if (message?.type !== output.messageType) {
        const last =
          message === undefined ? "no message" : `a ${message.type} of "${message.source}"`;
        throw new ValueError(
          `the run has no output of "${name}": it ended with ${last}, not with a ${output.messageType}`,
        );
      }
      const { content } = message;
      if (type === undefined || type instanceof StructuredMessageFactory) return content as Output;
      const checked = checkedBySchema(type, content);
      if ("value" in checked) return checked.value;
      const { issues } = checked;
      throw new MessageError(
        `the output of "${name}" does not fit its schema: ${listIssues(issues)}`,
        { issues },
      );
    },
  };
}
