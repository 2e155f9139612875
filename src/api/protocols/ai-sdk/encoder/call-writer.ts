import type { HumanRequest } from "../../../../contract/run.ts";
import type { Json } from "../../../../core/json.ts";
import type {
  FunctionCall,
  FunctionExecutionResult,
} from "../../../../core/models/llm-messages.ts";
import { argumentsValueOf } from "../../shared/call-arguments.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { questionPart } from "./data-parts.ts";
import type { ChatStreamOptions } from "./format.ts";
import type { MessageWriter } from "./message-writer.ts";
import type { ToolPart } from "./tool-parts.ts";

/** The tool that stands for a question about something else than a tool call. */
const APPROVE = "approve";

/** Writes the tool calls of a UI message, and questions about calls. */
export class CallWriter {
  readonly #writer: MessageWriter;
  readonly #options: ChatStreamOptions;
  /** Questions that the client has. */
  readonly #asked: Set<string>;

  constructor(writer: MessageWriter, options: ChatStreamOptions) {
    this.#writer = writer;
    this.#options = options;
    this.#asked = new Set(options.asked);
  }

  call(
    { id: message, source }: Extract<RunItem, { type: "tool_calls" }>,
    call: FunctionCall,
  ): void {
    const existing = this.#writer.calls.find(source, call.id);
    // A question about the call came before it.
    if (existing?.request !== undefined && existing.message === undefined) {
      existing.message = message;
      return;
    }
    const part = this.#writer.calls.add(openCall({ callId: call.id, source, message }));
    this.#writer.showCall(part, call.name, inputOf(call.arguments));
  }

  result(source: string, result: FunctionExecutionResult): void {
    const { call_id: callId, name, content, is_error } = result;
    let part = this.#writer.calls.find(source, callId);
    if (part === undefined) {
      part = this.#writer.calls.add(openCall({ callId, source }));
      this.#writer.showCall(part, name, null);
    }
    this.#writer.calls.delete(part);
    if (part.own) return;
    const denied = this.#options.denied?.includes(part.id) ?? false;
    if (denied) this.#writer.write({ type: "tool-output-denied", toolCallId: part.id });
    else if (is_error === true) this.#writer.outputError(part.id, content);
    else this.#writer.output(part.id, content);
  }

  /** Calls of turns that were given up. */
  retract(messageIds: readonly string[]): void {
    for (const part of this.#writer.calls.all()) {
      if (part.message === undefined || !messageIds.includes(part.message)) continue;
      this.#writer.calls.delete(part);
      this.#writer.outputError(part.id, "The turn of this call was given up.");
    }
  }

  /** Sends the questions that the client does not have. */
  ask(requests: readonly HumanRequest[]): void {
    for (const part of this.#writer.calls.all()) {
      // Another client has decided.
      if (part.request === undefined || part.callId !== approvalCall(part.request)) continue;
      if (requests.some(({ id }) => id === part.request)) continue;
      this.#writer.calls.delete(part);
      this.#writer.output(part.id, null);
    }
    for (const request of requests) {
      if (this.#asked.has(request.id) || this.#options.answering?.includes(request.id)) continue;
      this.#asked.add(request.id);
      if (request.kind === "input") this.#writer.data(questionPart(request));
      else this.#askAboutCall(request, requests);
    }
  }

  #askAboutCall(request: HumanRequest, open: readonly HumanRequest[]): void {
    const { id, kind, source, prompt, code, tool_call: call, expires_at } = request;
    let part = this.#writer.calls.ofRequest(request, open);
    if (part === undefined) {
      const callId = call?.call_id ?? approvalCall(id);
      part = this.#writer.calls.add(openCall({ callId, source, request: id }));
      if (kind === "approval") {
        const input = call?.arguments ?? { prompt, ...(code !== undefined && { code }) };
        this.#writer.showCall(part, call?.name ?? APPROVE, input);
      }
    }
    part.request = id;
    if (kind === "tool") {
      part.own = false;
      this.#writer.showCall(part, call?.name ?? "", call?.arguments ?? {}, request);
      return;
    }
    this.#writer.write({
      type: "tool-approval-request",
      approvalId: id,
      toolCallId: part.id,
      reason: prompt,
      approvalDescriptor: { source, prompt, expires_at },
    });
  }

  /** Gives a result to the calls that have no question, while other calls wait for approval. */
  answerRest(requests: readonly HumanRequest[]): void {
    // Calls beside the ones in question have run, and their results come with the others. But the SDK sends no approval
    // as long as a call of the step has no result.
    if (requests.some(({ kind }) => kind === "approval")) {
      for (const { id, request, source } of this.#writer.calls.all()) {
        if (request === undefined && source !== undefined) this.#writer.output(id, null);
      }
    }
  }

  /**
   * Gives every call a result and leaves none in the last step: a client that sends by itself what it was asked for would
   * send again and again.
   */
  complete(errorText: string): void {
    for (const part of this.#writer.calls.all()) {
      this.#writer.calls.delete(part);
      if (!part.own) this.#writer.outputError(part.id, errorText);
    }
    this.#writer.endLastStep();
  }
}

function openCall(
  call: Pick<ToolPart, "callId"> & Partial<Omit<ToolPart, "id" | "callId">>,
): Omit<ToolPart, "id"> {
  const { callId, source, message, request } = call;
  return { callId, source, message, request, own: false };
}

/** The id of the call that stands for a question. */
function approvalCall(request: string): string {
  return `${APPROVE}-${request}`;
}

/** The arguments as the model meant them, or as it wrote them where that is not JSON or clients refuse to read it. */
function inputOf(text: string): Json {
  // The AI SDK ends a stream whose JSON could change the prototype of objects.
  if (/"(__proto__|constructor)"\s*:/.test(text)) return text;
  try {
    return argumentsValueOf(text);
  } catch {
    return text;
  }
}
