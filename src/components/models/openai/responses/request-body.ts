import { ValueError } from "../../../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { CreateOptions, JsonOutput } from "../../../../core/models/chat-completion-client.ts";
import type { LLMMessage, MakerData } from "../../../../core/models/llm-messages.ts";
import { OutgoingConversation } from "../../chat/conversation.ts";
import { MessageWriter, requestJson, requestText } from "../../chat/request-text.ts";
import { type RequestForms, withNotes } from "../../http/request-forms.ts";
import { ModelAbilities } from "../../client/http-model-client.ts";
import { acceptedOutput, outputNote, ToolWriter } from "../../schemas/accepted-schema.ts";
import { OPEN } from "../../schemas/dialects.ts";
import { addCacheKey, type RequestSettings } from "../chat-completions/request-body.ts";
import type { ServerHabits } from "./server-habits.ts";
import { wireToolChoice } from "../chat-completions/wire-tools.ts";
import { type InputStyle, writeBareItems, writeItems } from "./input-items.ts";

export interface ResponsesSettings extends Omit<RequestSettings, "maker"> {
  /** The server's name for the model: on Azure, that of the deployment. */
  servedAs: string;
  maker: string;
  /** True if the model reasons; undefined if unknown. */
  reasons: boolean | undefined;
}

/** Fields that the client sets itself; `extraCreateArgs` must not have them. */
const RESERVED = ["input", "messages", "model", "stream", "n"];

/** Fields of chat completions that this API does not have. */
export const WITHOUT_EFFECT = [
  "frequency_penalty",
  "presence_penalty",
  "logit_bias",
  "seed",
  "stop",
] as const;

/** The smallest token limit that the API takes. */
const FEWEST_TOKENS = 16;

/** The ids of calls that the API takes. */
const CALL_IDS = /^.{1,64}$/;

const FOREIGN = "asked without the reasoning of earlier answers that another maker's model gave";
const REFUSED = "asked without the reasoning of earlier answers that the server refused";

/** Writes the bodies of one client's requests to `/responses`. */
export class ResponsesBodies {
  readonly #settings: ResponsesSettings;
  readonly #abilities: ModelAbilities;
  readonly #habits: ServerHabits;
  readonly #style: InputStyle;
  readonly #conversation: OutgoingConversation;
  readonly #items: MessageWriter;
  /** The answers whose reasoning the server did not accept: it was made for another account, or is truncated. */
  readonly #refused = new WeakSet<MakerData>();

  constructor(settings: ResponsesSettings, habits: ServerHabits) {
    this.#settings = settings;
    this.#habits = habits;
    this.#abilities = new ModelAbilities(settings.model, settings.modelInfo);
    this.#style = {
      maker: settings.maker,
      prefixNames: settings.prefixNames,
      abilities: this.#abilities,
    };
    this.#conversation = new OutgoingConversation({
      callIds: CALL_IDS,
      systems: { at: "anywhere", one: settings.modelInfo.multipleSystemMessages !== true },
      emptyText: "keep",
    });
    this.#items = new MessageWriter((message) => writeItems(message, this.#style));
  }

  /** @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms {
    const { servedAs } = this.#settings;
    const tools = options.tools ?? [];
    if (tools.length > 0) this.#abilities.checkTools();
    const sent = this.#conversation.accepted(messages);
    const { tools: builtIn, ...args } = this.#args(options, stream);
    const written = tools.map((tool) => TOOLS.write(tool));
    const allTools = [...written.map(({ wire }) => wire), ...builtInTools(builtIn)];
    const elements = this.#items.write(sent);
    const text = requestText(servedAs, { field: "input", elements, tools: allTools }, args);
    const notes = [...written.map(({ note }) => note), outputNote(options.jsonOutput, OPEN)];
    return withNotes({ text, note: this.#dropped(sent) }, notes);
  }

  /**
   * Writes the answers in `messages` without their reasoning from now on, because the server refused it.
   * @returns whether any had reasoning so far
   */
  dropReasoning(messages: readonly LLMMessage[]): boolean {
    let dropped = false;
    for (const message of this.#conversation.accepted(messages)) {
      if (message.type !== "AssistantMessage" || message.troupe?.maker !== this.#style.maker)
        continue;
      this.#refused.add(message.troupe);
      if (this.#items.replace(message, writeBareItems(message, this.#style))) dropped = true;
    }
    return dropped;
  }

  /** The parts sent back without their reasoning. */
  #dropped(messages: readonly LLMMessage[]): string | undefined {
    let note: string | undefined;
    for (const message of messages) {
      if (message.type !== "AssistantMessage" || message.troupe === undefined) continue;
      if (this.#refused.has(message.troupe)) return REFUSED;
      if (message.troupe.maker !== this.#style.maker) note = FOREIGN;
    }
    return note;
  }

  #args(options: CreateOptions, stream: boolean): JsonObject {
    const { createArgs } = this.#settings;
    const { extra_body, timeout: _, ...extra } = options.extraCreateArgs ?? {};
    const reserved = RESERVED.filter((name) => name in extra);
    if (reserved.length > 0)
      throw new ValueError(`extraCreateArgs must not have: ${reserved.join(", ")}`);
    const input: JsonObject = {
      ...createArgs,
      ...extra,
      ...(extra_body as JsonObject | undefined),
    };
    const args: JsonObject = { store: false, ...translated(input) };

    const { format: configured, ...text } = partOf(args, "text");
    const format = this.#format(options.jsonOutput) ?? configured;
    args["text"] = { ...text, ...(format !== undefined && { format }) };
    if (Object.keys(args["text"]).length === 0) delete args["text"];

    this.#addReasoning(args);
    addCacheKey(args, this.#settings, options);

    const tools = options.tools ?? [];
    const choice = options.toolChoice ?? "auto";
    if (typeof choice === "object") wireToolChoice(choice, tools);
    if (tools.length > 0)
      args["tool_choice"] =
        typeof choice === "object" ? { type: "function", name: choice.name } : choice;
    else delete args["parallel_tool_calls"];

    if (stream) args["stream"] = true;
    return args;
  }

  #addReasoning(args: JsonObject): void {
    if (this.#settings.reasons === false) return;
    const reasoning = partOf(args, "reasoning");
    if (this.#habits.account.summaries && reasoning["effort"] !== "none")
      args["reasoning"] = { summary: "auto", ...reasoning };
    const include = (args["include"] as Json[] | undefined) ?? [];
    if (this.#habits.account.encryption)
      args["include"] = [...include, "reasoning.encrypted_content"];
  }

  #format(output: JsonOutput | null | undefined): JsonObject | undefined {
    if (output === null || output === undefined) return undefined;
    this.#abilities.checkOutput(output);
    if (typeof output === "boolean") return { type: output ? "json_object" : "text" };
    const { schema, strict } = acceptedOutput(output.schema, OPEN);
    return { type: "json_schema", name: output.name, schema, strict };
  }
}

/** The fields of chat completions by their names in this API. Other fields stay unchanged. */
function translated(raw: JsonObject): JsonObject {
  const {
    max_tokens,
    max_completion_tokens = max_tokens,
    reasoning_effort,
    verbosity,
    response_format,
    logprobs,
    stream_options: _,
    ...args
  } = raw;
  for (const name of WITHOUT_EFFECT) delete args[name];
  if (typeof max_completion_tokens === "number")
    args["max_output_tokens"] = Math.max(FEWEST_TOKENS, max_completion_tokens);
  if (reasoning_effort !== undefined)
    args["reasoning"] = { effort: reasoning_effort, ...partOf(args, "reasoning") };
  const text = {
    ...(verbosity !== undefined && { verbosity }),
    ...(isJsonObject(response_format) && { format: flatFormat(response_format) }),
    ...partOf(args, "text"),
  };
  if (Object.keys(text).length > 0) args["text"] = text;
  if (logprobs === true) {
    const include = (args["include"] as Json[] | undefined) ?? [];
    args["include"] = [...include, "message.output_text.logprobs"];
  }
  return args;
}

function partOf(args: JsonObject, name: string): JsonObject {
  const part = args[name];
  return isJsonObject(part) ? part : {};
}

/** `response_format` of chat completions as `text.format`. */
function flatFormat({ json_schema, ...format }: JsonObject): JsonObject {
  return isJsonObject(json_schema) ? { ...format, ...json_schema } : format;
}

/** The tools that OpenAI runs, from the call's own arguments. */
function builtInTools(tools: Json | undefined): string[] {
  return Array.isArray(tools) ? tools.map(requestJson) : [];
}

/** Without `strict`, the API would make a schema strict. */
const TOOLS = new ToolWriter(OPEN, ({ name, description = "" }, { schema, strict }) =>
  requestJson({ type: "function", name, description, parameters: schema, strict }),
);
