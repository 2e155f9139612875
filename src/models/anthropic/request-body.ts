import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CreateOptions } from "../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../core/models/model-info.ts";
import { mergeSystemMessages, trimLastAssistant } from "../chat/conversation.ts";
import { MessageWriter } from "../chat/message-writer.ts";
import { ModelAbilities } from "../model-abilities.ts";
import { writeMessage } from "./wire-message.ts";
import { type AnswerTool, answerToolFor, wireToolChoice, wireTools } from "./wire-tools.ts";

export interface RequestSettings {
  model: string;
  modelInfo: ModelInfo;
  /** Fields of every body besides model and messages. */
  createArgs: JsonObject;
  /** Whether every answer is a JSON object, unless the call says otherwise. */
  jsonObject: boolean;
}

export interface RequestBody {
  /** JSON. */
  text: string;
  /** The name of the tool that the model is to answer with; undefined for a text. */
  answerTool: string | undefined;
}

/** Fields that the client sets itself; `extraCreateArgs` must not have them. */
const RESERVED = ["messages", "model", "stream", "system", "tools", "tool_choice"];

/** Writes the bodies of one client's requests. */
export class RequestBodies {
  readonly #settings: RequestSettings;
  readonly #abilities: ModelAbilities;
  readonly #messages: MessageWriter;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    this.#abilities = new ModelAbilities(settings.model, settings.modelInfo);
    this.#messages = new MessageWriter((message) => writeMessage(message, this.#abilities));
  }

  /** @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestBody {
    const { model, modelInfo } = this.#settings;
    if ((options.tools ?? []).length > 0) this.#abilities.checkTools();
    const answer = this.#answerTool(options);
    const merged =
      modelInfo.multipleSystemMessages === true ? messages : mergeSystemMessages(messages);
    const sent = trimLastAssistant(merged);
    const args = this.#args(sent, options, answer);
    const system = systemText(sent);
    if (system.trim() !== "") args["system"] = system;
    if (stream) args["stream"] = true;
    const rest = JSON.stringify(args).slice(1);
    const text = `{"model":${JSON.stringify(model)},"messages":[${this.#messages.write(sent)}],${rest}`;
    return { text, answerTool: answer?.name };
  }

  #answerTool({ jsonOutput, tools = [] }: CreateOptions): AnswerTool | undefined {
    const output = jsonOutput ?? this.#settings.jsonObject;
    if (output === false) return undefined;
    this.#abilities.checkOutput(output);
    return answerToolFor(output === true ? true : output.schema, tools);
  }

  #args(
    messages: readonly LLMMessage[],
    { extraCreateArgs, tools = [], toolChoice = "auto" }: CreateOptions,
    answer: AnswerTool | undefined,
  ): JsonObject {
    const { extra_body, timeout: _, ...extra } = extraCreateArgs ?? {};
    const reserved = RESERVED.filter((name) => name in extra);
    if (reserved.length > 0)
      throw new ValueError(`extraCreateArgs must not have: ${reserved.join(", ")}`);
    const args: JsonObject = {
      ...this.#settings.createArgs,
      ...extra,
      ...(extra_body as JsonObject | undefined),
    };
    const choice = wireToolChoice(toolChoice, tools, answer);
    const wire = wireTools(tools, messages, answer);
    if (wire.length > 0) {
      args["tools"] = wire;
      args["tool_choice"] = choice;
    }
    const isForced = choice["type"] === "any" || choice["type"] === "tool";
    if (isForced || isUnsignedContinuation(args["thinking"], messages)) delete args["thinking"];
    return args;
  }
}

/** All system messages as one text, wherever they stand. */
function systemText(messages: readonly LLMMessage[]): string {
  return messages
    .flatMap((message) => (message.type === "SystemMessage" ? [message.content] : []))
    .join("\n");
}

/**
 * Whether a turn goes on after tool calls that the model made while it thought. The API then wants the thought back with
 * its signature, which a conversation does not store; without thinking it wants none.
 */
function isUnsignedContinuation(thinking: unknown, messages: readonly LLMMessage[]): boolean {
  if ((thinking as { type?: unknown } | undefined)?.type !== "enabled") return false;
  const last = messages.findLast((message) => message.type === "AssistantMessage");
  return last !== undefined && typeof last.content !== "string";
}
