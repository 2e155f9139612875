import { ValueError } from "../../../core/errors.ts";
import type { JsonObject } from "../../../core/json.ts";
import type { CreateOptions } from "../../../core/models/chat-completion-client.ts";
import {
  type AssistantMessage,
  isCalls,
  type LLMMessage,
  type MakerData,
} from "../../../core/models/llm-messages.ts";
import type { ModelInfo } from "../../../core/models/model-info.ts";
import { withoutTrailingSpace } from "../../../core/text/python-space.ts";
import { OutgoingConversation, WITHOUT_PREFILL } from "../chat/conversation.ts";
import { joined, MessageWriter, requestText } from "../chat/request-text.ts";
import type { AnsweringModel } from "../chat/reply.ts";
import { type RequestForms, withNotes } from "../http/request-forms.ts";
import { ModelAbilities } from "../client/http-model-client.ts";
import type { WrittenTool } from "../schemas/accepted-schema.ts";
import { markedHistory, markedSystem, markedTools } from "./breakpoints.ts";
import { signedBlocks, type TurnBlock } from "./signed-turn.ts";
import { writeMessage } from "./wire-message.ts";
import { type AnswerTool, answerToolFor, wireToolChoice, wireTools } from "./wire-tools.ts";

export interface RequestSettings extends AnsweringModel {
  modelInfo: ModelInfo;
  /** Fields of every body besides model and messages. */
  createArgs: JsonObject;
  /** True if every answer is a JSON object, unless the call says otherwise. */
  jsonObject: boolean;
  /** True if requests mark the parts to cache. */
  caches: boolean;
}

export interface RequestBody extends RequestForms {
  /** The name of the tool that the model is to answer with; undefined for a text. */
  answerTool: string | undefined;
}

const FORCED = "asked without thinking: the API refuses it where a tool is forced";
const UNSIGNED =
  "asked without thinking: the calls before are of another model, or their signed thinking was not kept";
const REFUSED = "asked without thinking: the API refused the signed thinking of earlier answers";

/** The ids of calls that the API takes. */
const CALL_IDS = /^[a-zA-Z0-9_-]{1,64}$/;

/** The kinds of thinking that exclude an answer whose beginning is given. */
const THINKING: ReadonlySet<unknown> = new Set(["enabled", "adaptive", "between_tools"]);

/** Fields that the client sets itself; `extraCreateArgs` must not have them. */
const RESERVED = ["messages", "model", "stream", "system", "tools", "tool_choice"];

/** Writes the bodies of one client's requests. */
export class RequestBodies {
  readonly #settings: RequestSettings;
  readonly #abilities: ModelAbilities;
  readonly #conversation: OutgoingConversation;
  /** Writes messages as they are where thinking is off. */
  readonly #plain: MessageWriter;
  /** Writes messages with their signed thinking. */
  #signed: MessageWriter;
  /** Messages whose thinking the API did not accept: its signature belongs to another account, or was changed. */
  readonly #refused = new WeakSet<MakerData>();

  constructor(settings: RequestSettings) {
    this.#settings = settings;
    const { model, modelInfo, createArgs } = settings;
    this.#abilities = new ModelAbilities(model, modelInfo);
    const thinks = THINKING.has(typeOf(createArgs["thinking"]));
    this.#conversation = new OutgoingConversation({
      callIds: CALL_IDS,
      systems: { at: "field", one: modelInfo.multipleSystemMessages !== true },
      emptyText: "skip",
      userFirst: true,
      userLast: thinks || WITHOUT_PREFILL.test(model),
      trimLast: true,
    });
    this.#plain = new MessageWriter((message) =>
      writeMessage(message, this.#abilities, () => undefined),
    );
    this.#signed = this.#signedWriter();
  }

  /** @throws ValueError when the request needs something that the model cannot do */
  write(messages: readonly LLMMessage[], options: CreateOptions, stream: boolean): RequestBody {
    const { tools = [], declaredTools = [] } = options;
    if (tools.length > 0) this.#abilities.checkTools();
    const answer = this.#answerTool(options);
    const sent = this.#conversation.accepted(messages);
    const written = wireTools(tools.length > 0 ? tools : declaredTools, sent, answer);
    const args = this.#args(options, answer, written);
    return withNotes(
      this.#forms(sent, args, stream, answer),
      written.map(({ note }) => note),
    );
  }

  #forms(
    sent: readonly LLMMessage[],
    args: JsonObject,
    stream: boolean,
    answer: AnswerTool | undefined,
  ): RequestBody {
    const { model } = this.#settings;
    // If the end of the prompt is marked by the request, no other marks are added.
    const marks = this.#settings.caches && args["cache_control"] === undefined;
    const used = addSystem(args, sent, marks);
    if (stream) args["stream"] = true;
    const body = (writer: MessageWriter, fields: JsonObject): string => {
      const elements = writer.elements(sent);
      const history = joined(marks ? markedHistory(elements, used) : elements);
      return requestText(model, { field: "messages", elements: history }, fields);
    };
    const answerTool = answer?.name;
    const thinking = typeOf(args["thinking"]);
    if (thinking === "disabled") return { text: body(this.#plain, args), answerTool };
    const { thinking: _, ...unthinking } = args;
    const plain = (): string => body(this.#plain, unthinking);
    const choice = typeOf(args["tool_choice"]);
    const isForced = choice === "any" || choice === "tool";
    if (isForced || this.#isUnsigned(thinking, sent)) {
      const note = thinking === undefined ? undefined : isForced ? FORCED : UNSIGNED;
      return { text: plain(), note, answerTool };
    }
    const turns = sent.filter((message) => message.type === "AssistantMessage");
    const mayBeRefused =
      turns.some((turn) => this.#blocksOf(turn)) || (thinking !== undefined && turns.some(isCalls));
    return {
      text: body(this.#signed, args),
      answerTool,
      ...(mayBeRefused && {
        others: [{ write: plain, note: REFUSED }],
        onOther: () => this.#refuse(turns),
      }),
    };
  }

  /**
   * True if a turn continues after calls without their signed thought, from another model or from before signatures
   * were kept. The API refuses that if thinking is `enabled`; `adaptive` thinking does not need it
   * (https://platform.claude.com/docs/en/build-with-claude/adaptive-thinking).
   */
  #isUnsigned(thinking: unknown, messages: readonly LLMMessage[]): boolean {
    if (thinking !== "enabled") return false;
    const last = messages.findLast((message) => message.type === "AssistantMessage");
    return last !== undefined && isCalls(last) && this.#blocksOf(last) === undefined;
  }

  #signedWriter(): MessageWriter {
    return new MessageWriter((message) =>
      writeMessage(message, this.#abilities, (turn) => this.#blocksOf(turn)),
    );
  }

  #blocksOf(message: AssistantMessage): TurnBlock[] | undefined {
    const isRefused = message.troupe !== undefined && this.#refused.has(message.troupe);
    return isRefused ? undefined : signedBlocks(message, this.#settings.model);
  }

  #refuse(turns: readonly AssistantMessage[]): void {
    for (const { troupe } of turns) if (troupe !== undefined) this.#refused.add(troupe);
    this.#signed = this.#signedWriter();
  }

  #answerTool({ jsonOutput, tools = [] }: CreateOptions): AnswerTool | undefined {
    const output = jsonOutput ?? this.#settings.jsonObject;
    if (output === false) return undefined;
    this.#abilities.checkOutput(output);
    return answerToolFor(output === true ? true : output.schema, tools);
  }

  #args(
    { extraCreateArgs, tools = [], toolChoice = "auto", stop = [] }: CreateOptions,
    answer: AnswerTool | undefined,
    written: readonly WrittenTool<JsonObject>[],
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
    // The API refuses a text of spaces alone.
    const stops = stop.filter((text) => text.trim() !== "");
    if (stops.length > 0) args["stop_sequences"] ??= stops;
    const choice = wireToolChoice(toolChoice, tools, answer);
    if (written.length > 0) {
      args["tools"] = written.map(({ wire }) => wire);
      args["tool_choice"] = choice;
    }
    return args;
  }
}

/**
 * Adds all system messages, wherever they are, as the request's `system`.
 * @param marks whether to mark the constant parts, tools and system messages, for the server's cache
 * @returns how many blocks it has marked
 */
function addSystem(args: JsonObject, messages: readonly LLMMessage[], marks: boolean): number {
  const texts = messages
    .flatMap((message) => (message.type === "SystemMessage" ? [message.content] : []))
    .filter((text) => text.trim() !== "");
  const last = texts.pop();
  // In AutoGen's form.
  if (last !== undefined) texts.push(withoutTrailingSpace(last));
  const tools = args["tools"] as JsonObject[] | undefined;
  if (texts.length > 0) {
    args["system"] = marks ? markedSystem(texts) : texts.join("\n");
    return Math.min(2, texts.length);
  }
  if (!marks || tools === undefined) return 0;
  args["tools"] = markedTools(tools);
  return 1;
}

function typeOf(value: unknown): unknown {
  return (value as JsonObject | undefined)?.["type"];
}
