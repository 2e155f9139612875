import { withoutNulls } from "../../../core/component/component.ts";
import { ValueError } from "../../../core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import type { CreateOptions, ToolSchema } from "../../../core/models/chat-completion-client.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../../core/models/model-info.ts";
import { ANY_ID, OutgoingConversation } from "../chat/conversation.ts";
import { MessageWriter, requestText } from "../chat/request-text.ts";
import type { AnsweringModel } from "../chat/reply.ts";
import { type RequestForms, withNotes } from "../http/request-forms.ts";
import { ModelAbilities } from "../client/http-model-client.ts";
import { ToolWriter } from "../schemas/accepted-schema.ts";
import { OPEN } from "../schemas/dialects.ts";
import { writeMessage } from "./wire-message.ts";

export interface ChatRequestSettings extends AnsweringModel {
  modelInfo: ModelInfo;
  /** Fields of every body besides model and messages; `options` among them. */
  createArgs: JsonObject;
}

/** Fields that the client sets itself; `extraCreateArgs` must not have them. */
const RESERVED = ["messages", "model", "stream", "tools"];

/** Fields of a request. Everything else in `extraCreateArgs` is one of the model's options. */
const FIELDS: ReadonlySet<string> = new Set([
  "format",
  "keep_alive",
  "think",
  "truncate",
  "shift",
  "logprobs",
  "top_logprobs",
]);

/** Writes the bodies of one client's requests to `/api/chat`. */
export class ChatRequests {
  readonly #settings: ChatRequestSettings;
  readonly #abilities: ModelAbilities;
  readonly #conversation = new OutgoingConversation({
    callIds: ANY_ID,
    systems: { at: "anywhere", one: false },
    emptyText: "keep",
  });
  readonly #messages: MessageWriter;

  constructor(settings: ChatRequestSettings) {
    this.#settings = settings;
    this.#abilities = new ModelAbilities(settings.model, settings.modelInfo);
    this.#messages = new MessageWriter((message) => writeMessage(message, this.#abilities));
  }

  /** @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestForms {
    const written = this.#tools(options).map((tool) => TOOLS.write(tool));
    const tools = written.map(({ wire }) => wire);
    // An answer is streamed unless the request says otherwise.
    const args = { stream, ...this.#args(options), ...(tools.length > 0 ? { tools } : {}) };
    const elements = this.#messages.write(this.#conversation.accepted(messages));
    const text = requestText(this.#settings.model, { field: "messages", elements }, args);
    return withNotes(
      { text },
      written.map(({ note }) => note),
    );
  }

  #args({ extraCreateArgs = {}, jsonOutput, stop }: CreateOptions): JsonObject {
    const reserved = RESERVED.filter((name) => name in extraCreateArgs);
    if (reserved.length > 0)
      throw new ValueError(`extraCreateArgs must not have: ${reserved.join(", ")}`);
    const { timeout: _, extra_body, response_format, options, ...extra } = extraCreateArgs;
    const { options: configured, ...args } = this.#settings.createArgs;
    const merged = { ...objectOf(configured), ...objectOf(options) };
    for (const [name, value] of Object.entries<Json>(extra))
      (FIELDS.has(name) ? args : merged)[name] = value;
    if (response_format !== undefined) setFormat(args, formatOf(response_format));
    if (jsonOutput != null) {
      this.#abilities.checkOutput(jsonOutput);
      setFormat(
        args,
        typeof jsonOutput === "object" ? jsonOutput.schema : jsonOutput ? "json" : undefined,
      );
    }
    const sent = withoutNulls(merged);
    if (stop !== undefined) sent["stop"] ??= [...stop];
    if (typeof sent["stop"] === "string") sent["stop"] = [sent["stop"]];
    if (Object.keys(sent).length > 0) args["options"] = sent;
    return { ...args, ...objectOf(extra_body) };
  }

  /** Ollama has no `tool_choice`: as in AutoGen, the choice is made by the list of tools that the model gets. */
  #tools({ tools = [], toolChoice = "auto" }: CreateOptions): readonly ToolSchema[] {
    if (tools.length > 0) this.#abilities.checkTools();
    if (toolChoice === "none") return [];
    if (toolChoice === "required" && tools.length === 0)
      throw new ValueError("toolChoice is 'required', and no tools were given");
    if (typeof toolChoice === "string") return tools;
    const chosen = tools.filter(({ name }) => name === toolChoice.name);
    if (chosen.length > 0) return chosen;
    const given = tools.map(({ name }) => name).join(", ") || "none";
    throw new ValueError(
      `toolChoice names the tool '${toolChoice.name}', which was not given; given tools: ${given}`,
    );
  }
}

const TOOLS = new ToolWriter<JsonObject>(OPEN, ({ name, description = "" }, { schema }) => ({
  type: "function",
  function: { name, description, parameters: schema },
}));

/** Ollama's `format` for OpenAI's `response_format`; undefined for text. */
export function formatOf(responseFormat: Json): Json | undefined {
  if (!isJsonObject(responseFormat)) return undefined;
  const { type, json_schema } = responseFormat;
  if (type === "json_object") return "json";
  return type === "json_schema" ? (objectOf(json_schema)["schema"] ?? "json") : undefined;
}

function setFormat(args: JsonObject, format: Json | undefined): void {
  if (format === undefined) delete args["format"];
  else args["format"] = format;
}

function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
