import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { FunctionCall } from "../../../../core/models/llm-messages.ts";
import type { CallAssembly } from "../../chat/call-assembly.ts";
import type { Delta } from "./chunk.ts";
import type { ProviderFields } from "./provider-fields.ts";

/** Collects the provider data, from a whole message or from its parts. */
export class ProviderDataCollector {
  readonly fields: ProviderFields = {};
  readonly #repeats: boolean;

  /** @param repeats whether each part of a detail begins with all that came before */
  constructor(repeats: boolean) {
    this.#repeats = repeats;
  }

  add(message: Delta): void {
    for (const name of ["reasoning_content", "reasoning"] as const) {
      const text = message[name];
      if (text !== undefined) this.fields[name] = (this.fields[name] ?? "") + text;
    }
    const { reasoning_details: details, extra_content: extra, content } = message;
    for (const detail of details) this.#addDetail(detail);
    if (extra !== undefined && isSigned(extra)) this.fields.extra_content = extra;
    if (typeof content !== "string") for (const part of content) this.#addPart(part);
    else if (this.fields.content !== undefined && content !== "")
      this.#addPart({ type: "text", text: content });
  }

  /** The calls of the reply, without their `extra_content`, which is collected. */
  callsOf({ calls }: CallAssembly): FunctionCall[] {
    return calls.map(({ extra, ...call }) => {
      if (extra !== undefined) this.fields.calls = { ...this.fields.calls, [call.id]: extra };
      return call;
    });
  }

  /** Parts of one detail have the same index. */
  #addDetail(detail: JsonObject): void {
    const details = (this.fields.reasoning_details ??= []);
    const last = details.at(-1);
    const continues =
      detail["index"] !== undefined &&
      last?.["index"] === detail["index"] &&
      last["type"] === detail["type"];
    if (!continues) details.push({ ...detail });
    else extend(last, detail, this.#repeats);
  }

  /** A list as the content is kept where it has thinking; texts alone are the message's own content. */
  #addPart(part: JsonObject): void {
    const last = this.fields.content?.at(-1);
    if (last === undefined && part["type"] !== "thinking") return;
    const { thinking: pieces, ...rest } = part;
    if (last === undefined || last["type"] !== part["type"])
      (this.fields.content ??= []).push(structuredClone(part));
    else if (!Array.isArray(pieces) || !Array.isArray(last["thinking"])) extend(last, part, false);
    else {
      Object.assign(last, rest);
      for (const piece of pieces) addPiece(last["thinking"], piece);
    }
  }
}

function addPiece(pieces: Json[], piece: Json): void {
  const last = pieces.at(-1);
  if (isJsonObject(last) && isJsonObject(piece) && last["type"] === piece["type"])
    extend(last, piece, false);
  else pieces.push(piece);
}

const GROWING = new Set(["text", "summary", "data"]);

/** Adds a part: texts are appended, other values are set once. */
function extend(whole: JsonObject, part: JsonObject, repeats: boolean): void {
  for (const [name, value] of Object.entries(part)) {
    const before = whole[name];
    if (!GROWING.has(name) || typeof before !== "string" || typeof value !== "string") {
      if (value !== null || before === undefined) whole[name] = value;
    } else whole[name] = repeats && value.startsWith(before) ? value : before + value;
  }
}

/** Gemini also marks summaries of its thoughts so, which must not be sent back. */
function isSigned({ google }: JsonObject): boolean {
  return isJsonObject(google) && google["thought_signature"] !== undefined;
}
