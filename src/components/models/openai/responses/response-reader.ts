import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import type { CreateResult } from "../../../../core/models/chat-completion-client.ts";
import { ModelError } from "../../../../core/models/model-error.ts";
import type { TokenUsage } from "../../../../core/models/request-usage.ts";
import { CallAssembly } from "../../chat/call-assembly.ts";
import { type AnsweringModel, toResult } from "../../chat/reply.ts";
import { StreamedText, type StreamedTextSettings } from "../../chat/streamed-text.ts";
import type { Piece } from "../../http/answer-formats.ts";
import { ServerFailure, unfinished } from "../../http/errors.ts";
import { nameIn, objectIn, textIn, typeIn } from "../../http/fields.ts";
import type { AnswerReader } from "../../http/read-stream.ts";
import { makerData } from "./maker-data.ts";
import { type OutputItem, type ResponseEnd, responseOf } from "./output.ts";
import { StreamedItems } from "./streamed-items.ts";

/** The client's data for readers of answers. */
export interface AnswerSettings extends AnsweringModel {
  maker: string;
}

/** Between the parts of a summary, and between messages, of which an answer may have several. */
const BETWEEN_PARTS = "\n\n";

/** Assembles a response from its events; a whole one is read as its last event. */
export class ResponseReader implements AnswerReader<CreateResult> {
  readonly #settings: AnswerSettings;
  readonly #shown: StreamedText;
  readonly #streamed = new StreamedItems();
  /** All items, since the last event. */
  #items: OutputItem[] | undefined;
  #end: ResponseEnd | undefined;
  #isDone = false;
  /** The message whose text streamed last. */
  #message: string | undefined;
  ended = false;

  constructor(settings: AnswerSettings, startOver?: StreamedTextSettings["startOver"]) {
    this.#settings = settings;
    this.#shown = new StreamedText({ ...settings, startOver });
  }

  get hasBegun(): boolean {
    return this.#shown.hasBegun || this.#streamed.hasBegun;
  }

  /** The text that an event adds, with reasoning between `<think>` tags. */
  read({ value, event: name }: Piece): string {
    if (value === undefined) {
      this.#isDone = true;
      this.ended = true;
      return this.#shown.add(null);
    }
    if (!isJsonObject(value)) return "";
    const type = typeIn(value) ?? name ?? "";
    switch (type) {
      case "response.output_text.delta":
      case "response.refusal.delta":
        return this.#addText(value);
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#shown.add(textIn(value["delta"], "delta"));
      case "response.reasoning_summary_part.added":
        return this.#shown.reasoning === null ? "" : this.#shown.add(BETWEEN_PARTS);
      case "response.output_item.added":
        this.#streamed.begin(value);
        return objectIn(value["item"], "item")?.["type"] === "function_call"
          ? this.#shown.add(null)
          : "";
      case "response.function_call_arguments.delta":
        this.#streamed.addArguments(value);
        return "";
      case "response.function_call_arguments.done":
        this.#streamed.setArguments(value);
        return "";
      case "response.output_item.done":
        this.#streamed.complete({ ...value, item: objectIn(value["item"], "item") ?? null });
        return "";
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        return this.#finish(objectIn(value["response"], "response") ?? {}, type);
      default:
        // A whole response has no type.
        return value["output"] !== undefined || value["object"] === "response"
          ? this.#finish(value, "")
          : "";
    }
  }

  #addText(event: JsonObject): string {
    const delta = textIn(event["delta"], "delta");
    return this.#shown.add(null, this.#before(nameIn(event["item_id"])) + delta);
  }

  /** The separator before a piece of a message: a new paragraph if another message had text before. */
  #before(message: string | undefined): string {
    const isNext = this.#message !== undefined && this.#message !== message;
    this.#message = message;
    return isNext ? BETWEEN_PARTS : "";
  }

  #finish(response: JsonObject, type: string): string {
    const end = responseOf(response);
    if (type === "response.failed" || end.status === "failed" || end.error !== undefined)
      throw new ServerFailure(end.error ?? "The response failed");
    if (end.status !== undefined && UNFINISHED.has(end.status))
      throw new ModelError("bad_response", `The model server's response is ${end.status}`);
    if (response["output"] === undefined && type === "")
      throw new ModelError("bad_response", "The model server's answer has no output");
    this.ended = true;
    this.#end = type === "response.incomplete" ? { ...end, status: "incomplete" } : end;
    this.#items = this.#streamed.all(end.output);
    return this.#shown.add(null, this.#shown.text === "" ? textOf(this.#items) : "");
  }

  end(): string {
    return this.#shown.end();
  }

  /**
   * A response is complete with the event that says so or, from servers that send none, with `[DONE]` after its items.
   *
   * @throws ModelError `bad_response` when the stream ended before the response did
   */
  result(): CreateResult {
    const output = this.#items ?? this.#streamed.all([]);
    const text = textOf(output) || this.#shown.text;
    const hasAnswer = output.length > 0 || text !== "";
    if (this.#end === undefined && !(this.#isDone && hasAnswer)) throw unfinished();
    const { maker, model } = this.#settings;
    const reasoning = reasoningOf(output);
    const assembly = new CallAssembly();
    for (const item of output) if (item.type === "function_call") assembly.addWhole(item.parts);
    const toolCalls = assembly.calls;
    const logprobs = output.flatMap((item) =>
      item.type === "message" ? item.parts.flatMap((part) => part.logprobs) : [],
    );
    const result = toResult(
      {
        // Beside tool calls, a model explains itself only in its reasoning.
        text: toolCalls.length > 0 ? text || (reasoning ?? "") : text,
        isRefusal: output.some(
          (item) => item.type === "message" && item.parts.some(({ refusal }) => refusal !== ""),
        ),
        reasoning,
        toolCalls,
        finishReason: this.#end && finishReason(this.#end),
        usage: this.#end?.usage ?? NO_USAGE,
        logprobs: logprobs.length > 0 ? logprobs : null,
      },
      this.#settings,
    );
    const items = output.map(({ raw }) => raw);
    const troupe = makerData(items, text, { maker, model });
    return troupe === undefined ? result : { ...result, troupe };
  }
}

const UNFINISHED: ReadonlySet<string> = new Set(["in_progress", "queued", "cancelled"]);

const NO_USAGE: TokenUsage = { prompt_tokens: 0, completion_tokens: 0 };

function finishReason({ status, reason = "unknown" }: ResponseEnd): string {
  if (status !== "incomplete") return "stop";
  return reason === "max_output_tokens" ? "length" : reason;
}

function textOf(output: readonly OutputItem[]): string {
  return output
    .flatMap((item) => (item.type === "message" ? [item.parts] : []))
    .map((parts) => parts.map(({ text, refusal }) => text || refusal).join(""))
    .filter((text) => text !== "")
    .join(BETWEEN_PARTS);
}

/** The summaries of reasoning or, for models that show it, the reasoning itself; null if there is none. */
function reasoningOf(output: readonly OutputItem[]): string | null {
  const texts = output.flatMap((item) => (item.type === "reasoning" ? item.texts : []));
  return texts.length === 0 ? null : texts.join(BETWEEN_PARTS);
}
