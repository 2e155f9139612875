import { ValueError } from "../../core/errors.ts";
import type { JsonObject } from "../../core/json.ts";
import type { CreateOptions, JsonOutput } from "../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../core/models/model-info.ts";
import { dialectOf, type Dialect } from "./dialect.ts";
import { strictSchema } from "./strict-schema.ts";
import { mergeSystemMessages, trimLastAssistant, WireMessages } from "./wire-message.ts";
import { wireToolChoice, writeTools } from "./wire-tools.ts";

export interface RequestSettings {
  model: string;
  modelInfo: ModelInfo;
  /** What goes into every body besides model and messages. */
  createArgs: JsonObject;
  includeNames: boolean;
  prefixNames: boolean;
}

/** What the client decides itself and nobody may pass along. */
const RESERVED = ["messages", "model", "stream", "n", "tools", "functions", "function_call"];

/** Writes the bodies of one client's requests. */
export class RequestBodies {
  readonly #settings: RequestSettings;
  readonly #dialect: Dialect;
  readonly #messages: WireMessages;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    this.#dialect = dialectOf(settings.modelInfo.family, settings.model);
    this.#messages = new WireMessages({
      dialect: this.#dialect,
      includeNames: settings.includeNames,
      prefixNames: settings.prefixNames,
      vision: settings.modelInfo.vision,
    });
  }

  /** @throws ValueError when something is asked for that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): string {
    const { model, modelInfo } = this.#settings;
    const tools = options.tools ?? [];
    if (tools.length > 0 && !modelInfo.function_calling)
      throw new ValueError(
        `The model '${model}' cannot call functions (model_info.function_calling is false)`,
      );

    let sent = messages;
    if (modelInfo.multiple_system_messages !== true) sent = mergeSystemMessages(sent);
    if (this.#dialect.trimLast) sent = trimLastAssistant(sent);

    const args = this.#args(options, stream);
    const toolsText = tools.length > 0 ? `,"tools":[${writeTools(tools)}]` : "";
    const argsText = JSON.stringify(args).slice(1);
    const rest = argsText === "}" ? argsText : `,${argsText}`;
    const text = this.#messages.write(sent);
    return `{"model":${JSON.stringify(model)},"messages":[${text}]${toolsText}${rest}`;
  }

  #args(options: CreateOptions, stream: boolean): JsonObject {
    const { createArgs } = this.#settings;
    const { extra_body, timeout: _, ...extra } = options.extraCreateArgs ?? {};
    const reserved = RESERVED.filter((name) => name in extra);
    if (reserved.length > 0)
      throw new ValueError(`extraCreateArgs must not have: ${reserved.join(", ")}`);
    const args: JsonObject = { ...createArgs, ...extra, ...(extra_body as JsonObject | undefined) };

    const format = this.#responseFormat(options.jsonOutput);
    if (format !== undefined) args["response_format"] = format;

    const tools = options.tools ?? [];
    const choice = options.toolChoice ?? "auto";
    if (tools.length > 0) args["tool_choice"] = wireToolChoice(choice, tools);
    else {
      if (typeof choice === "object") wireToolChoice(choice, tools);
      delete args["parallel_tool_calls"];
    }

    const usage = args["stream_options"] ?? { include_usage: true };
    delete args["stream_options"];
    if (stream) {
      args["stream"] = true;
      if ((usage as { include_usage?: boolean }).include_usage !== false)
        args["stream_options"] = usage;
    }
    return args;
  }

  #responseFormat(output: JsonOutput | null | undefined): JsonObject | undefined {
    const { model, modelInfo } = this.#settings;
    if (output === null || output === undefined) return undefined;
    if (output === false) return { type: "text" };
    if (output === true) {
      if (!modelInfo.json_output)
        throw new ValueError(
          `The model '${model}' has no JSON mode (model_info.json_output is false)`,
        );
      return { type: "json_object" };
    }
    if (modelInfo.structured_output !== true)
      throw new ValueError(
        `The model '${model}' has no structured output (model_info.structured_output is not true)`,
      );
    const { name, schema } = output;
    return {
      type: "json_schema",
      json_schema: { name, schema: strictSchema(schema), strict: true },
    };
  }
}
