import { ValueError } from "../../../../core/errors.ts";
import { hashId } from "../../../../core/hash.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type {
  CreateOptions,
  JsonOutput,
  ToolSchema,
} from "../../../../core/models/chat-completion-client.ts";
import type { AssistantMessage, LLMMessage } from "../../../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../../../core/models/model-info.ts";
import {
  ANY_ID,
  calledTools,
  type ConversationRules,
  OutgoingConversation,
} from "../../chat/conversation.ts";
import { type MessageWriter, requestText } from "../../chat/request-text.ts";
import type { AnsweringModel } from "../../chat/reply.ts";
import { type RequestForms, withNotes } from "../../http/request-forms.ts";
import { acceptedOutput, outputNote, type ToolWriter } from "../../schemas/accepted-schema.ts";
import { type SchemaDialect, schemaDialectOf } from "../../schemas/dialects.ts";
import { ModelAbilities } from "../../client/http-model-client.ts";
import { dialectOf, type Dialect } from "./dialect.ts";
import { type Form, GivenBack, messageWriter } from "./wire-message.ts";
import type { Maker } from "./maker.ts";
import { toolWriter, wireToolChoice } from "./wire-tools.ts";

export interface RequestSettings extends AnsweringModel {
  modelInfo: ModelInfo;
  /** Fields of every body besides model and messages. */
  createArgs: JsonObject;
  includeNames: boolean;
  prefixNames: boolean;
  maker: Maker;
  /** True if the server takes a `prompt_cache_key`, unless the config disables it. */
  keyed: boolean;
  /** True if the model refuses `stop`. */
  refusesStop?: boolean;
}

/** Fields that the client sets itself; `extraCreateArgs` must not have them. */
const RESERVED = ["messages", "model", "stream", "n", "tools", "functions", "function_call"];

/** Writes the bodies of one client's requests. */
export class RequestBodies {
  readonly #settings: RequestSettings;
  readonly #abilities: ModelAbilities;
  readonly #dialect: Dialect;
  readonly #schemas: SchemaDialect;
  readonly #writtenTools: ToolWriter<string>;
  readonly #conversation: OutgoingConversation;
  /** The tools requested so far; a refusal rebuilds them. */
  readonly #writers = new Map<Form["calls"], MessageWriter>();
  readonly #givenBack: GivenBack;

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    this.#abilities = new ModelAbilities(settings.model, settings.modelInfo);
    this.#dialect = dialectOf(settings.modelInfo.family, settings.model);
    this.#schemas = schemaDialectOf(settings.model, settings.maker.name);
    this.#writtenTools = toolWriter(this.#schemas);
    this.#conversation = new OutgoingConversation(rulesOf(settings, this.#dialect));
    this.#givenBack = new GivenBack(settings.maker, settings.model);
  }

  /** @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms {
    const { model } = this.#settings;
    if ((options.tools ?? []).length > 0) this.#abilities.checkTools();

    const sent = this.#conversation.accepted(messages);
    const { tools, toolChoice } = this.#tools(sent, options);
    const args = this.#args({ ...options, tools, toolChoice }, stream);
    const written = tools.map((tool) => this.#writtenTools.write(tool));
    const body = ({ calls, fields }: Form): string => {
      const elements = this.#writer(calls).write(sent);
      const parts = {
        field: "messages",
        elements,
        tools: written.map(({ wire }) => wire),
      } as const;
      return requestText(model, parts, { ...args, ...fields });
    };
    const turns = sent.filter((message) => message.type === "AssistantMessage");
    const [first, ...others] = this.#givenBack.forms(turns);
    const forms = {
      text: body(first),
      note: first.note,
      others: others.map((form) => ({ write: () => body(form), note: form.note ?? "" })),
      onOther: () => this.#refuse(turns),
    };
    const notes = written.map(({ note }) => note);
    if (options.jsonOutput) notes.push(outputNote(options.jsonOutput, this.#schemas));
    return notes.length === 0 ? forms : withNotes(forms, notes);
  }

  /** The tools of a request, and its choice of them. Those that Claude only wants to know must not be called. */
  #tools(
    sent: readonly LLMMessage[],
    { tools = [], declaredTools = [], toolChoice }: CreateOptions,
  ): { tools: readonly ToolSchema[]; toolChoice: CreateOptions["toolChoice"] } {
    const called = this.#dialect.needsTools && tools.length === 0 ? calledTools(sent) : [];
    if (called.length === 0 || typeof toolChoice === "object") return { tools, toolChoice };
    return { tools: declaredTools.length > 0 ? declaredTools : called, toolChoice: "none" };
  }

  #writer(calls: Form["calls"]): MessageWriter {
    let writer = this.#writers.get(calls);
    if (writer === undefined) {
      const { includeNames, prefixNames, maker } = this.#settings;
      writer = messageWriter({
        dialect: this.#dialect,
        includeNames,
        prefixNames,
        abilities: this.#abilities,
        pdfPart: maker.pdfPart ?? "file",
        bridged: maker.takes?.bridged === true,
        givenBack: this.#givenBack,
        calls,
      });
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
    const { refusesStop } = this.#settings;
    if (options.stop && refusesStop !== true) args["stop"] ??= [...options.stop];
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
    const { schema, strict } = acceptedOutput(output.schema, this.#schemas);
    return { type: "json_schema", json_schema: { name: output.name, schema, strict } };
  }
}

function rulesOf({ maker, modelInfo }: RequestSettings, dialect: Dialect): ConversationRules {
  const { systemFirst = false, ...taken } = maker.takes ?? {};
  const one = modelInfo.multipleSystemMessages !== true;
  return {
    callIds: ANY_ID,
    systems: { at: systemFirst ? "beginning" : "anywhere", one },
    emptyText: dialect.emptyText,
    trimLast: dialect.trimLast,
    ...taken,
  };
}

/** Requests with the same key go to the server that has the beginning of the prompt in its cache. */
export function addCacheKey(
  args: JsonObject,
  { keyed }: Pick<RequestSettings, "keyed">,
  { conversation }: CreateOptions,
): void {
  if (keyed && conversation !== undefined) args["prompt_cache_key"] ??= hashId(conversation);
}
