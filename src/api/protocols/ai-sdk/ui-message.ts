import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import type { Chunk } from "./encoder/chunk.ts";

/** A message as the SDK's clients have it. */
export interface UIMessage {
  id: string;
  role: "system" | "user" | "assistant";
  metadata?: JsonObject;
  parts: JsonObject[];
}

type ChunkOf<Type extends Chunk["type"]> = Extract<Chunk, { type: Type }>;

/** Makes an assistant's message of the chunks of its stream, as the SDK does. */
export class UIMessageBuilder {
  readonly message: UIMessage;
  /** Texts and thoughts that are open, by their kind and id. */
  readonly #open = new Map<string, JsonObject & { text: string }>();

  constructor(id: string) {
    this.message = { id, role: "assistant", parts: [] };
  }

  take(chunk: Chunk): void {
    switch (chunk.type) {
      case "start":
        if (chunk.messageId !== undefined) this.message.id = chunk.messageId;
        return this.#describe(chunk.messageMetadata);
      case "message-metadata":
      case "finish":
        return this.#describe(chunk.messageMetadata);
      case "start-step":
        return this.#add({ type: "step-start" });
      case "text-start":
      case "reasoning-start":
        return this.#beginText(chunk);
      case "text-delta":
      case "reasoning-delta":
        return this.#growText(chunk);
      case "text-end":
      case "reasoning-end":
        return this.#endText(chunk);
      case "tool-input-available":
        return this.#call(chunk);
      case "tool-approval-request":
        return this.#askAboutCall(chunk);
      case "tool-output-available":
      case "tool-output-error":
        return this.#result(chunk);
      case "tool-output-denied":
        return this.#change(chunk.toolCallId, { state: "output-denied" });
      case "file":
        return this.#add({ ...chunk, providerMetadata: { ...chunk.providerMetadata } });
      case "finish-step":
      case "abort":
      case "error":
        return;
      default:
        return this.#data(chunk);
    }
  }

  #add(part: JsonObject): void {
    this.message.parts.push(part);
  }

  #describe(metadata: JsonObject | undefined): void {
    if (metadata !== undefined) this.message.metadata = merged(this.message.metadata, metadata);
  }

  #beginText({ type, id, providerMetadata }: ChunkOf<"text-start" | "reasoning-start">): void {
    const kind = kindOf(type);
    const part = {
      type: kind,
      ...(kind === "reasoning" && { id }),
      text: "",
      providerMetadata: { ...providerMetadata },
      state: "streaming",
    };
    this.#open.set(`${kind} ${id}`, part);
    this.#add(part);
  }

  #growText({ type, id, delta }: ChunkOf<"text-delta" | "reasoning-delta">): void {
    const part = this.#open.get(`${kindOf(type)} ${id}`);
    if (part !== undefined) part.text += delta;
  }

  #endText({ type, id, providerMetadata }: ChunkOf<"text-end" | "reasoning-end">): void {
    const key = `${kindOf(type)} ${id}`;
    const part = this.#open.get(key);
    if (part === undefined) return;
    this.#open.delete(key);
    part["state"] = "done";
    if (providerMetadata !== undefined) part["providerMetadata"] = { ...providerMetadata };
  }

  #call(chunk: ChunkOf<"tool-input-available">): void {
    const { toolCallId, toolName, input, providerExecuted, providerMetadata, toolMetadata } = chunk;
    const step = this.message.parts.findLastIndex(({ type }) => type === "step-start");
    const earlier = this.message.parts
      .slice(step + 1)
      .find((part) => part["toolCallId"] === toolCallId);
    const call = {
      toolName,
      state: "input-available",
      input,
      providerExecuted,
      ...(toolMetadata && { toolMetadata }),
      ...(providerMetadata && { callProviderMetadata: { ...providerMetadata } }),
    };
    if (earlier === undefined) this.#add({ type: "dynamic-tool", toolCallId, ...call });
    else Object.assign(earlier, call);
  }

  /** A call has its last result. */
  #result(chunk: ChunkOf<"tool-output-available" | "tool-output-error">): void {
    const { type, toolCallId, providerExecuted } = chunk;
    const call = this.#find(toolCallId);
    if (call === undefined) return;
    delete call["output"];
    delete call["errorText"];
    const result =
      type === "tool-output-available"
        ? { state: "output-available", output: chunk.output }
        : { state: "output-error", errorText: chunk.errorText };
    Object.assign(call, result, { providerExecuted });
  }

  #askAboutCall(chunk: ChunkOf<"tool-approval-request">): void {
    const { toolCallId, approvalId: id, approvalDescriptor: descriptor, reason } = chunk;
    this.#change(toolCallId, {
      state: "approval-requested",
      approval: { id, descriptor, requestReason: reason },
    });
  }

  #change(toolCallId: string, changes: JsonObject): void {
    const call = this.#find(toolCallId);
    if (call !== undefined) Object.assign(call, changes);
  }

  #find(toolCallId: string): JsonObject | undefined {
    return this.message.parts.findLast((part) => part["toolCallId"] === toolCallId);
  }

  #data({ type, id, data, transient }: ChunkOf<`data-${string}`>): void {
    if (transient) return;
    const earlier =
      id !== undefined && this.message.parts.find((part) => part.type === type && part.id === id);
    if (earlier) earlier["data"] = data;
    else this.#add({ type, ...(id !== undefined && { id }), data });
  }
}

function kindOf(type: `text-${string}` | `reasoning-${string}`): "text" | "reasoning" {
  return type.startsWith("text") ? "text" : "reasoning";
}

/** Objects in objects are merged, too. */
function merged(base: JsonObject = {}, changes: JsonObject): JsonObject {
  const result = { ...base };
  for (const [name, value] of Object.entries(changes)) {
    const before = result[name];
    result[name] = isJsonObject(before) && isJsonObject(value) ? merged(before, value) : value;
  }
  return result;
}
