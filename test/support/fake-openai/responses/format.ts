import type { AnswerFormat } from "../answer-format.ts";
import { errorBody } from "../answer-format.ts";
import type { ChatRequest } from "../chat-request.ts";
import { type Completion, logprobsOf, split } from "../completion.ts";
import { openAIModel } from "../openai-models.ts";
import type { InputItem } from "./input-items.ts";
import { callOf, type ResponsesCall } from "./request.ts";
import { itemIdOf, reasoningIdOf, seal } from "./sealing.ts";
import { storeConversation } from "./stored.ts";

/** A time that never changes, so that neither do answers. */
const CREATED = 1_700_000_000;

interface OutputItem {
  type: string;
  id: string;
  [key: string]: unknown;
}

/** The parts of an answer in their order. */
function outputOf(completion: Completion, call: ResponsesCall): OutputItem[] {
  const { toolCalls, content, refusal } = completion;
  const { request, key } = call;
  const reasons = reasonsOn(request);
  const digest = completion.id.replace("chatcmpl-", reasons ? "r" : "");
  const items: OutputItem[] = [];
  if (reasons) {
    const id = reasoningIdOf(digest);
    const summarized = request.reasoning?.summary != null && completion.reasoning !== undefined;
    items.push({
      id,
      type: "reasoning",
      summary: summarized ? [{ type: "summary_text", text: completion.reasoning }] : [],
      ...(request.include?.includes("reasoning.encrypted_content") && {
        encrypted_content: seal(key, id),
      }),
    });
  }
  const status = "completed";
  if (content !== null || refusal !== undefined)
    items.push({
      id: itemIdOf("message", digest, 0),
      type: "message",
      status,
      role: "assistant",
      ...(reasons && { phase: toolCalls.length > 0 ? "commentary" : "final_answer" }),
      content: [
        ...(content === null ? [] : [textPart(completion)]),
        ...(refusal === undefined ? [] : [{ type: "refusal", refusal }]),
      ],
    });
  for (const [index, { id, name, arguments: args }] of toolCalls.entries())
    items.push({
      id: itemIdOf("function_call", digest, index),
      type: "function_call",
      status,
      call_id: id,
      name,
      arguments: args,
    });
  return items;
}

const reasonsOn = ({ model, reasoning }: ResponsesCall["request"]): boolean => {
  const { reasons, defaultEffort } = openAIModel(model);
  return reasons && (reasoning?.effort ?? defaultEffort) !== "none";
};

function textPart({ content, logprobs, pieces }: Completion): object {
  return {
    type: "output_text",
    text: content,
    annotations: [],
    logprobs: logprobs ? logprobsOf(pieces).content : [],
  };
}

/** The end of an answer: how it ended, and what it cost. */
function endOf({ finishReason, usage }: Completion): object {
  const reason = finishReason?.toLowerCase() ?? "stop";
  const complete = ["stop", "end_turn", "tool_calls"].includes(reason);
  return {
    status: complete ? "completed" : "incomplete",
    error: null,
    incomplete_details: complete
      ? null
      : { reason: reason === "length" ? "max_output_tokens" : reason },
    usage:
      usage === null
        ? null
        : {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: {
              cached_tokens: 0,
              cache_write_tokens: 0,
              ...usage.prompt_tokens_details,
            },
            output_tokens: usage.completion_tokens,
            output_tokens_details: { reasoning_tokens: 0, ...usage.completion_tokens_details },
            total_tokens: usage.total_tokens,
          },
  };
}

function headOf({ id, model }: Completion, { request }: ResponsesCall): object {
  return {
    id: id.replace("chatcmpl-", "resp_"),
    object: "response",
    created_at: CREATED,
    model,
    store: request.store ?? true,
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    tools: request.tools ?? [],
  };
}

/** The conversation with the answer, where the request lets the server keep it. */
function remember(
  completion: Completion,
  call: ResponsesCall,
  output: readonly OutputItem[],
): void {
  if (call.request.store === false) return;
  const id = completion.id.replace("chatcmpl-", "resp_");
  storeConversation(call.key, id, [...call.input, ...(output as unknown as InputItem[])]);
}

/** Numbers the events of a stream and merges those without an effect of their own into the next. */
class EventWriter {
  #number = 0;
  #pending = "";

  /** Events that come with the next one. */
  prepare(type: string, data: object): void {
    const numbered = { type, sequence_number: this.#number++, ...data };
    this.#pending += `event: ${type}\ndata: ${JSON.stringify(numbered)}\n\n`;
  }

  write(type: string, data: object): string {
    this.prepare(type, data);
    const text = this.#pending;
    this.#pending = "";
    return text;
  }
}

/** https://developers.openai.com/api/reference/resources/responses/streaming-events */
function* events(completion: Completion, request: ChatRequest, broken: boolean): Generator<string> {
  const call = callOf(request);
  const head = headOf(completion, call);
  const output = outputOf(completion, call);
  const writer = new EventWriter();
  const begun = { response: { ...head, status: "in_progress", output: [], usage: null } };
  writer.prepare("response.created", begun);
  yield writer.write("response.in_progress", begun);
  if (broken) return;
  for (const [output_index, item] of output.entries())
    yield* itemEvents(writer, completion, output_index, item);
  if (completion.finishReason === null) return;
  const end = endOf(completion) as { status: string };
  remember(completion, call, output);
  yield writer.write(`response.${end.status}`, { response: { ...head, ...end, output } });
}

function* itemEvents(
  writer: EventWriter,
  completion: Completion,
  output_index: number,
  item: OutputItem,
): Generator<string> {
  const at = { output_index, item_id: item.id };
  // What is encrypted comes with the end of its item.
  const { encrypted_content: _, ...begun } = item;
  const empty = { summary: [], content: [], arguments: "" };
  const emptied = Object.fromEntries(
    Object.entries(begun).map(([key, value]) => [
      key,
      key in empty ? empty[key as "summary"] : value,
    ]),
  );
  writer.prepare("response.output_item.added", { output_index, item: emptied });
  if (item.type === "reasoning") {
    for (const [summary_index, { text }] of (item["summary"] as { text: string }[]).entries()) {
      const part = { type: "summary_text", text };
      writer.prepare("response.reasoning_summary_part.added", {
        ...at,
        summary_index,
        part: { ...part, text: "" },
      });
      for (const delta of split(text, undefined))
        yield writer.write("response.reasoning_summary_text.delta", {
          ...at,
          summary_index,
          delta,
        });
      writer.prepare("response.reasoning_summary_text.done", { ...at, summary_index, text });
      writer.prepare("response.reasoning_summary_part.done", { ...at, summary_index, part });
    }
  }
  if (item.type === "message") yield* messageEvents(writer, completion, at, item);
  if (item.type === "function_call") {
    const args = String(item["arguments"]);
    for (const delta of split(args, 8))
      yield writer.write("response.function_call_arguments.delta", { ...at, delta });
    writer.prepare("response.function_call_arguments.done", { ...at, arguments: args });
  }
  writer.prepare("response.output_item.done", { output_index, item });
}

function* messageEvents(
  writer: EventWriter,
  { pieces, logprobs }: Completion,
  at: object,
  item: OutputItem,
): Generator<string> {
  const parts = item["content"] as { type: string; text?: string; refusal?: string }[];
  for (const [content_index, part] of parts.entries()) {
    const place = { ...at, content_index };
    const isText = part.type === "output_text";
    const emptyPart = isText ? { ...part, text: "", logprobs: [] } : { ...part, refusal: "" };
    writer.prepare("response.content_part.added", { ...place, part: emptyPart });
    if (isText) {
      for (const delta of pieces)
        yield writer.write("response.output_text.delta", {
          ...place,
          delta,
          logprobs: logprobs ? logprobsOf([delta]).content : [],
        });
      writer.prepare("response.output_text.done", { ...place, text: part.text });
    } else {
      yield writer.write("response.refusal.delta", { ...place, delta: part.refusal });
      writer.prepare("response.refusal.done", { ...place, refusal: part.refusal });
    }
    writer.prepare("response.content_part.done", { ...place, part });
  }
}

/** Answers of OpenAI's Responses API: server-sent events, or one JSON object. */
export const responsesFormat: AnswerFormat = {
  streamType: "text/event-stream; charset=utf-8",
  whole(completion, broken, request) {
    const call = callOf(request);
    const output = outputOf(completion, call);
    remember(completion, call, output);
    return {
      ...headOf(completion, call),
      ...endOf(completion),
      ...(broken ? {} : { output }),
    };
  },
  chunks: events,
  error: errorBody,
  errorEvent: (message, code) =>
    `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: 99, code, message, param: null })}\n\n`,
  filler: ": cut\n\n",
  half: 'event: response.output_text.delta\ndata: {"type":"response.output_te',
  end: "",
};
