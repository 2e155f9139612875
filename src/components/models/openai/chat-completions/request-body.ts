import { ValueError } from "../../../../core/errors.ts";
import { hashId } from "../../../../core/hash.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { CreateOptions, JsonOutput } from "../../../../core/models/chat-completion-client.ts";
import type { AssistantMessage, LLMMessage } from "../../../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../../../core/models/model-info.ts";
import {
  bridgeResults,
  endWithUser,
  mergeSystemMessages,
  trimLastAssistant,
} from "../../chat/conversation.ts";
import { MessageWriter } from "../../chat/message-writer.ts";
import type { RequestForms } from "../../http/sdk-connection.ts";
import { ModelAbilities } from "../../http-model-client.ts";
import { dialectOf, type Dialect } from "./dialect.ts";
import { type Form, GivenBack, type WireStyle, writeMessage } from "./wire-message.ts";
import type { Maker } from "../maker.ts";
import { strictSchema } from "./strict-schema.ts";
import { wireToolChoice, writeTools } from "./wire-tools.ts";

export interface RequestSettings {
  model: string;
  modelInfo: ModelInfo;
  /** Fields of every body besides model and messages. */
  createArgs: JsonObject;
  includeNames: boolean;
  prefixNames: boolean;
  maker: Maker;
  /** Whether the server takes a `prompt_cache_key`, unless the config disables it. */
  keyed: boolean;
}

/** Fields that the client sets itself; `extraCreateArgs` must not have them. */
const RESERVED = ["messages", "model", "stream", "n", "tools", "functions", "function_call"];

const ANY_ID = /^/;

/** Writes the bodies of one client's requests. */
export class RequestBodies {
  readonly #settings: RequestSettings;
  readonly #abilities: ModelAbilities;
  readonly #dialect: Dialect;
  /** The tools requested so far; a refusal rebuilds them. */
  readonly #writers = new Map<Form["calls"], MessageWriter>();
  readonly #givenBack: GivenBack;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    this.#abilities = new ModelAbilities(settings.model, settings.modelInfo);
    this.#dialect = dialectOf(settings.modelInfo.family, settings.model);
    this.#givenBack = new GivenBack(settings.maker, settings.model);
  }

  /** @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms {
    const { model, modelInfo, maker } = this.#settings;
    const tools = options.tools ?? [];
    if (tools.length > 0) this.#abilities.checkTools();

    let sent = messages;
    if (modelInfo.multipleSystemMessages !== true) sent = mergeSystemMessages(sent);
    if (maker.bridged) sent = bridgeResults(sent);
    if (maker.userLast) sent = endWithUser(sent);
    if (this.#dialect.trimLast) sent = trimLastAssistant(sent);

    const args = this.#args(options, stream);
    const toolsText = tools.length > 0 ? `,"tools":[${writeTools(tools)}]` : "";
    const body = ({ calls, fields }: Form): string => {
      const argsText = JSON.stringify({ ...args, ...fields }).slice(1);
      const rest = argsText === "}" ? argsText : `,${argsText}`;
      const text = this.#writer(calls).write(sent);
      return `{"model":${JSON.stringify(model)},"messages":[${text}]${toolsText}${rest}`;
    };
    const turns = sent.filter((message) => message.type === "AssistantMessage");
    const [first, ...others] = this.#givenBack.forms(turns);
    return {
      text: body(first),
      note: first.note,
      others: others.map((form) => ({ write: () => body(form), note: form.note ?? "" })),
      onOther: () => this.#refuse(turns),
    };
  }

  #writer(calls: Form["calls"]): MessageWriter {
    let writer = this.#writers.get(calls);
    if (writer === undefined) {
      const { includeNames, prefixNames, maker } = this.#settings;
      const style: WireStyle = {
        dialect: this.#dialect,
        includeNames,
        prefixNames,
        abilities: this.#abilities,
        pdfPart: maker.pdfPart ?? "file",
        callIds: maker.callIds ?? ANY_ID,
        bridged: maker.bridged === true,
        givenBack: (message: AssistantMessage) => this.#givenBack.fields(message, calls),
      };
      writer = new MessageWriter((message) => writeMessage(message, style));
      this.#writers.set(calls, writer);
    }
    return writer;
  }

  #refuse(turns: readonly AssistantMessage[]): void {
    this.#givenBack.refuse(turns);
    this.#writers.clear();
  }

  #args(options: CreateOptions, stream: boolean): JsonObject {
    const { createArgs, maker } = this.#settings;
    const { extra_body, timeout: _, ...extra } = options.extraCreateArgs ?? {};
    const reserved = RESERVED.filter((name) => name in extra);
    if (reserved.length > 0)
      throw new ValueError(`extraCreateArgs must not have: ${reserved.join(", ")}`);
    const args: JsonObject = { ...createArgs, ...extra, ...(extra_body as JsonObject | undefined) };

    addCacheKey(args, this.#settings, options);
    const format = this.#responseFormat(options.jsonOutput);
    if (format !== undefined) args["response_format"] = format;

    const tools = options.tools ?? [];
    const choice = options.toolChoice ?? "auto";
    if (tools.length > 0) args["tool_choice"] = wireToolChoice(choice, tools);
    else {
      if (typeof choice === "object") wireToolChoice(choice, tools);
      delete args["parallel_tool_calls"];
    }

    const usage = args["stream_options"] ?? { include_usage: maker.usageUnasked !== true };
    delete args["stream_options"];
    if (stream) {
      args["stream"] = true;
      if ((usage as { include_usage?: boolean }).include_usage !== false)
        args["stream_options"] = usage;
    }
    return args;
  }

  #responseFormat(output: JsonOutput | null | undefined): JsonObject | undefined {
    if (output === null || output === undefined) return undefined;
    this.#abilities.checkOutput(output);
    if (typeof output === "boolean") return { type: output ? "json_object" : "text" };
    const { name, schema } = output;
    return {
      type: "json_schema",
      json_schema: { name, schema: strictSchema(schema), strict: true },
    };
  }
}

/** Requests with the same key go to the server that has the beginning of the prompt in its cache. */
export function addCacheKey(
  args: JsonObject,
  { keyed }: Pick<RequestSettings, "keyed">,
  { conversation }: CreateOptions,
): void {
  if (keyed && conversation !== undefined) args["prompt_cache_key"] ??= hashId(conversation);
}
