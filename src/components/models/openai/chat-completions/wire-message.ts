import {
  fileAsText,
  fileDataUri,
  isFile,
  PDF,
  type AttachedFile,
} from "../../../../core/models/attached-files.ts";
import { imageDataUri } from "../../../../core/models/images.ts";
import type {
  AssistantMessage,
  FunctionExecutionResultMessage,
  ImageContent,
  LLMMessage,
  MakerData,
  SystemMessage,
  UserMessage,
} from "../../../../core/models/llm-messages.ts";
import { showImages, splitImages, withoutImages } from "../../../../core/models/shown-images.ts";
import type { ModelAbilities } from "../../client/http-model-client.ts";
import type { Dialect } from "./dialect.ts";
import {
  type ProviderFields,
  providerFields,
  reasonedFields,
  signedFields,
} from "./provider-fields.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { Maker } from "./maker.ts";
import { BRIDGE } from "../../chat/conversation.ts";
import { MessageWriter } from "../../chat/request-text.ts";
import { fittingName } from "../../../../core/tools/tool-name.ts";

export interface WireStyle {
  dialect: Dialect;
  /** True if user messages carry a `name`. */
  includeNames: boolean;
  /** True if user texts begin with the name of their source. */
  prefixNames: boolean;
  abilities: ModelAbilities;
  /** The part type of a PDF. */
  pdfPart: "file" | "image_url";
  /** True if an assistant has to speak between the results of tools and a user. */
  bridged: boolean;
  /** Provider data to send back with an assistant's message, in the form of the request. */
  givenBack: GivenBack;
  calls: Form["calls"];
}

/** Writes the messages of one form of a request. */
export function messageWriter(style: WireStyle): MessageWriter {
  return new MessageWriter((message) => writeMessage(message, style));
}

/** A message as JSON: one object, several for several tool results, none for a message that is left out. */
function writeMessage(original: LLMMessage, style: WireStyle): string {
  const message = showImages(original, style.abilities.sees);
  switch (message.type) {
    case "SystemMessage":
      return systemMessage(message, style);
    case "UserMessage":
      return userMessage(message, style);
    case "AssistantMessage":
      return assistantMessage(message, style);
    case "FunctionExecutionResultMessage":
      return resultMessages(message, style)
        .map((one) => JSON.stringify(one))
        .join(",");
  }
}

/** This API takes texts as results; their images follow as a user's message. */
function resultMessages(
  { content: results }: FunctionExecutionResultMessage,
  { abilities, bridged }: WireStyle,
): object[] {
  const about = abilities.sees ? ", shown below" : "";
  const messages = results.map(({ content, call_id }) => ({
    role: "tool",
    tool_call_id: call_id,
    content: withoutImages(content, about),
  }));
  if (!abilities.sees) return messages;
  const images = results.flatMap(({ name, content }) =>
    splitImages(content).flatMap((part) =>
      typeof part === "string"
        ? []
        : [{ type: "text", text: `Image from ${name}:` }, imagePart(part)],
    ),
  );
  if (images.length === 0) return messages;
  const bridge = bridged ? [{ role: "assistant", content: BRIDGE.content }] : [];
  return [...messages, ...bridge, { role: "user", content: images }];
}

function imagePart(image: ImageContent): object {
  return { type: "image_url", image_url: { url: imageDataUri(image), detail: "auto" } };
}

/** The only files that this API takes are PDF (https://developers.openai.com/api/docs/guides/file-inputs). */
function filePart(file: AttachedFile, { abilities, pdfPart }: WireStyle): object {
  if (file.media_type !== PDF || !abilities.readsFiles)
    return { type: "text", text: fileAsText(file) };
  const uri = fileDataUri(file);
  return pdfPart === "file"
    ? { type: "file", file: { filename: file.name, file_data: uri } }
    : { type: "image_url", image_url: { url: uri } };
}

function systemMessage({ content }: SystemMessage, { dialect }: WireStyle): string {
  return JSON.stringify({ role: "system", content: content || dialect.emptySystem });
}

function userMessage({ content, source }: UserMessage, style: WireStyle): string {
  const { dialect } = style;
  const prefix = style.prefixNames ? `${source} said:\n` : "";
  const isNamed = style.includeNames && dialect.names && source !== "";
  const name = isNamed ? { name: fittingName(source) } : {};
  if (typeof content === "string")
    return JSON.stringify({ role: "user", ...name, content: prefix + content });
  const parts = content.map((part, index) => {
    if (typeof part === "string") return { type: "text", text: index === 0 ? prefix + part : part };
    if (isFile(part)) return filePart(part, style);
    style.abilities.checkImage(source);
    return imagePart(part);
  });
  return JSON.stringify({ role: "user", ...name, content: parts });
}

function assistantMessage(message: AssistantMessage, style: WireStyle): string {
  const { content, thought } = message;
  const { dialect } = style;
  const { content: parts, calls, ...given } = style.givenBack.fields(message, style.calls) ?? {};
  if (typeof content === "string")
    return JSON.stringify({ role: "assistant", content: parts ?? content, ...given });
  const tool_calls = content.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
    ...(calls?.[call.id] && { extra_content: calls[call.id] }),
  }));
  const text = thought === null ? null : thought || dialect.emptyThought;
  return JSON.stringify({ role: "assistant", content: parts ?? text, ...given, tool_calls });
}

/** One form of a request, with or without provider data in its conversation. */
export interface Form {
  /**
   * `given`: with provider data. `filled`: the same, with placeholders for missing reasoning. `blank`: with
   * placeholders only. `plain`: with none. All of them have placeholders for missing signatures.
   */
  calls: "given" | "filled" | "blank" | "plain";
  /** Fields of the request that belong to this form. */
  fields?: JsonObject;
  /** The parts that it leaves out. */
  note?: string;
}

const GIVEN: Form = { calls: "given" };
const FILLED: Form = {
  calls: "filled",
  note: "asked with placeholders for reasoning that is missing: calls before are of another model, or from an older state",
};
const BLANK: Form = {
  calls: "blank",
  note: "asked with placeholders for reasoning that the server refused",
};
const PLAIN: Form = { calls: "plain", note: "asked without what the server refused to take back" };
const OFF =
  "asked without thinking: calls before have no reasoning that the server takes back (another model's, or from an older state)";

/** Writes provider data back into requests of one client. */
export class GivenBack {
  readonly #maker: Maker;
  readonly #model: string;
  /** The data that the server did not accept: it belongs to another key, or was changed. */
  readonly #refused = new WeakSet<MakerData>();

  constructor(maker: Maker, model: string) {
    this.#maker = maker;
    this.#model = model;
  }

  /** The forms of a request with these messages, in order of preference. */
  forms(turns: readonly AssistantMessage[]): [Form, ...Form[]] {
    const { calls, off } = this.#maker;
    const given = turns.map((turn) => this.#givenTo(turn));
    const carried = given.some((fields) => fields && Object.keys(fields).length > 0);
    const withCalls = turns.map(({ content }) => typeof content !== "string");
    if (calls !== "reasoned" || !withCalls.includes(true))
      return carried ? [GIVEN, PLAIN] : [GIVEN];
    const isMissing = given.some((fields, index) => withCalls[index] && fields === undefined);
    const last = carried || !isMissing ? [BLANK] : [];
    if (off === undefined) return [isMissing ? FILLED : GIVEN, ...last];
    return isMissing
      ? [{ ...GIVEN, fields: off, note: OFF }, FILLED, ...last]
      : [GIVEN, { ...PLAIN, fields: off, note: OFF }, ...last];
  }

  /** The fields of one message. */
  fields(message: AssistantMessage, calls: Form["calls"]): ProviderFields | undefined {
    const isWithout = calls === "plain" || calls === "blank";
    const given = isWithout ? undefined : this.#givenTo(message);
    if (this.#maker.calls === "signed") return signedFields(given ?? {}, message);
    const isFilled = calls === "filled" || calls === "blank";
    return isFilled ? reasonedFields(given ?? {}, message) : given;
  }

  refuse(turns: readonly AssistantMessage[]): void {
    for (const { troupe } of turns) if (troupe !== undefined) this.#refused.add(troupe);
  }

  #givenTo(message: AssistantMessage): ProviderFields | undefined {
    const { troupe } = message;
    if (troupe === undefined || this.#refused.has(troupe)) return undefined;
    return providerFields(message, this.#maker, this.#model);
  }
}
