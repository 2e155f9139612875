import type {
  ResponseFunctionToolCall,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseOutputText,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from "openai/resources/responses/responses";
import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import type { MakeEncoder, StreamEncoder } from "../../../contract/stream-format.ts";
import type { StreamFrame } from "../../../contract/stream-frame.ts";
import type { RunItem } from "../../projection/run-item.ts";
import { approvalId, callId } from "../ids.ts";
import { Answer } from "./answer.ts";
import type { AnswerItem, End } from "./answer-item.ts";
import { type AnswerOptions, readOptions } from "./answer-options.ts";
import { type ResponseBody, responseBody } from "./response-body.ts";
import { Sequence } from "./sequence.ts";
import { namedEvent, wholeEvent } from "./sse.ts";

type McpCall = ResponseOutputItem.McpCall;
type McpApprovalRequest = ResponseOutputItem.McpApprovalRequest;
/** An event without its number; `output_text` is made by clients. */
type Event = Unnumbered<ResponseStreamEvent>;
type Unnumbered<E> = E extends { response: unknown }
  ? Omit<E, "sequence_number" | "response"> & { response: ResponseBody }
  : E extends unknown
    ? Omit<E, "sequence_number">
    : never;

/** An item of the output, and its index there. */
interface Placed<Item> {
  item: Item;
  index: number;
}

/** Numbers of the events before the first text: created, queued, in progress. */
const OPENING = 3;

/** An answer as a response of the Responses API, or as its events. */
class ResponseEncoder implements StreamEncoder {
  readonly #options: AnswerOptions;
  readonly #answer: Answer;
  readonly #sequence: Sequence;
  #run: RunInfo | undefined;
  #inProgress = false;
  readonly #output: ResponseOutputItem[] = [];
  /** Texts that are open, by their ids. */
  readonly #texts = new Map<string, Placed<ResponseOutputMessage | ResponseReasoningItem>>();
  /** Calls of tools that have no result yet, by their ids. */
  readonly #calls = new Map<string, Placed<McpCall>>();
  readonly #ids = new Set<string>();

  constructor(options: AnswerOptions) {
    this.#options = options;
    // Approvals are items of their own.
    this.#answer = new Answer(options, ({ kind }) => kind === "input");
    this.#sequence = new Sequence(options.after);
  }

  get ended(): boolean {
    return this.#answer.ended;
  }

  encode(frame: StreamFrame): string {
    let cursor = "id" in frame && frame.id !== undefined ? Number(frame.id) : undefined;
    let text = "";
    for (const item of this.#answer.take(frame)) {
      // A text streams before the message that has it is recorded.
      const streams = item.type === "text_start" || item.type === "text_delta";
      if (cursor !== undefined && !streams) {
        this.#sequence.advance(cursor);
        cursor = undefined;
      }
      text += this.#write(item);
    }
    if (cursor !== undefined) this.#sequence.advance(cursor);
    return text;
  }

  #write(item: AnswerItem): string {
    switch (item.type) {
      case "run":
        return this.#changed(item.run);
      case "text_start":
        return this.#textStart(item);
      case "text_delta":
        return this.#textDelta(item);
      case "text_end":
        return this.#textEnd(item);
      case "told":
        return this.#told(item.item);
      case "end":
        return this.#end(item);
    }
  }

  #changed(run: RunInfo): string {
    const first = this.#run === undefined;
    this.#run = run;
    const response = responseBody(this.#options, run, [], undefined);
    let text = first ? this.#event({ type: "response.created", response }) : "";
    if (run.status === "queued") {
      return first ? text + this.#event({ type: "response.queued", response }) : text;
    }
    if (!this.#inProgress) {
      this.#inProgress = true;
      this.#sequence.reserve(OPENING - 1);
      text += this.#event({ type: "response.in_progress", response });
    }
    return text;
  }

  #textStart({ id, role }: AnswerItem & { type: "text_start" }): string {
    const index = this.#output.length;
    if (role === "answer") {
      const item: ResponseOutputMessage = {
        id: this.#newId(`msg_${id}`),
        type: "message",
        role: "assistant",
        status: "in_progress",
        content: [],
      };
      this.#texts.set(id, { item, index });
      return this.#add(item) + this.#part("added", item.id, index, outputText(""));
    }
    const item: ResponseReasoningItem = {
      id: this.#newId(`rs_${id}`),
      type: "reasoning",
      status: "in_progress",
      summary: [],
      content: [],
    };
    this.#texts.set(id, { item, index });
    return this.#add(item) + this.#part("added", item.id, index, reasoningText(""));
  }

  #textDelta({ id, role, delta }: AnswerItem & { type: "text_delta" }): string {
    const text = this.#texts.get(id);
    if (text === undefined) return "";
    const number = this.#sequence.next(delta.length);
    // Of a piece that the client has in part, only the rest.
    const missing = Math.min(delta.length, number - this.#options.startingAfter);
    if (missing <= 0 || this.#options.form === "whole") return "";
    const place = {
      item_id: text.item.id,
      output_index: text.index,
      content_index: 0,
      delta: delta.slice(delta.length - missing),
      sequence_number: number,
    };
    return role === "answer"
      ? namedEvent({ type: "response.output_text.delta", ...place, logprobs: [] })
      : namedEvent({ type: "response.reasoning_text.delta", ...place });
  }

  #textEnd({ id, role, text, final }: AnswerItem & { type: "text_end" }): string {
    const open = this.#texts.get(id);
    if (open === undefined) return "";
    this.#texts.delete(id);
    const { item, index } = open;
    const place = { item_id: item.id, output_index: index, content_index: 0 };
    if (role === "answer") {
      const part = outputText(text);
      const done: ResponseOutputMessage = {
        id: item.id,
        type: "message",
        role: "assistant",
        status: "completed",
        content: [part],
        phase: final ? "final_answer" : "commentary",
      };
      return (
        this.#event({ type: "response.output_text.done", ...place, text, logprobs: [] }) +
        this.#part("done", item.id, index, part) +
        this.#done({ item: done, index })
      );
    }
    const part = reasoningText(text);
    const done: ResponseReasoningItem = {
      id: item.id,
      type: "reasoning",
      status: "completed",
      summary: [],
      content: [part],
    };
    return (
      this.#event({ type: "response.reasoning_text.done", ...place, text }) +
      this.#part("done", item.id, index, part) +
      this.#done({ item: done, index })
    );
  }

  /** Calls of tools are calls of a server's tools; the API has nothing for other items. */
  #told(item: RunItem): string {
    switch (item.type) {
      case "tool_calls":
        return item.calls
          .filter(({ name }) => !this.#options.tools.includes(name))
          .map((call, n) =>
            this.#call(call.id, {
              id: this.#newId(`mcp_${item.id}_${n}`),
              type: "mcp_call",
              server_label: item.source,
              name: call.name,
              arguments: call.arguments,
              status: "in_progress",
            }),
          )
          .join("");
      case "tool_results":
        return item.results
          .map(({ call_id, content, is_error }) =>
            this.#result(call_id, content, is_error === true),
          )
          .join("");
      default:
        return "";
    }
  }

  #call(id: string, item: McpCall): string {
    const index = this.#output.length;
    const place = { item_id: item.id, output_index: index };
    // Models use the same id again.
    const earlier = this.#calls.get(id);
    this.#calls.set(id, { item, index });
    return (
      (earlier === undefined ? "" : this.#giveUp(earlier)) +
      this.#add({ ...item, arguments: "" }) +
      this.#event({ type: "response.mcp_call.in_progress", ...place }) +
      this.#event({
        type: "response.mcp_call_arguments.done",
        ...place,
        arguments: item.arguments,
      })
    );
  }

  #result(id: string, output: string, isError: boolean): string {
    const call = this.#calls.get(id);
    if (call === undefined) return "";
    this.#calls.delete(id);
    const { item, index } = call;
    const place = { item_id: item.id, output_index: index };
    if (!isError) {
      const done: McpCall = { ...item, status: "completed", output };
      return (
        this.#event({ type: "response.mcp_call.completed", ...place }) +
        this.#done({ item: done, index })
      );
    }
    const error = {
      type: "mcp_tool_execution_error" as const,
      content: [{ type: "text", text: output }],
    };
    return (
      this.#event({ type: "response.mcp_call.failed", ...place }) +
      this.#done({ item: { ...item, status: "failed", error }, index })
    );
  }

  #giveUp({
    item,
    index,
  }: Placed<McpCall | ResponseOutputMessage | ResponseReasoningItem>): string {
    return this.#done({ item: { ...item, status: "incomplete" }, index });
  }

  #end({ end, run = this.#run, images }: AnswerItem & { type: "end" }): string {
    if (run === undefined) return "";
    this.#run = run;
    const open = [...this.#calls.values(), ...this.#texts.values()].map((one) => this.#giveUp(one));
    const asked = end.type === "waiting" ? end.requests.map((one) => this.#ask(run, one)) : [];
    const body = responseBody(this.#options, run, this.#output, end, images);
    if (this.#options.form === "whole") return wholeEvent({ status: 200, body });
    return [...open, ...asked, this.#terminal(end, body)].join("");
  }

  #terminal(end: End, response: ResponseBody): string {
    switch (end.type) {
      case "completed":
      case "waiting":
        return this.#event({ type: "response.completed", response });
      case "failed":
        return end.problem.code === "token_limit"
          ? this.#event({ type: "response.incomplete", response })
          : this.#event({ type: "response.failed", response });
      case "cancelled":
        return this.#event({ type: "response.incomplete", response });
      case "paused":
        return this.#event({
          type: "error",
          code: "run_paused",
          message: "The run was paused. It goes on when it is resumed.",
          param: null,
        });
      case "unfinished":
        return "";
    }
  }

  /** An approval, or a call of a tool of the client. Questions are texts. */
  #ask(run: RunInfo, { id: request, kind, source, code, tool_call }: HumanRequest): string {
    const index = this.#output.length;
    const place = { team: run.team_id, run: run.id, request };
    if (kind === "approval") {
      const item: McpApprovalRequest = {
        id: approvalId(place),
        type: "mcp_approval_request",
        server_label: source,
        name: tool_call?.name ?? "execute_code",
        arguments: JSON.stringify(tool_call?.arguments ?? { code: code ?? "" }),
      };
      return this.#add(item) + this.#done({ item, index });
    }
    if (kind !== "tool" || tool_call === undefined) return "";
    const item: ResponseFunctionToolCall = {
      id: `fc_${request}`,
      type: "function_call",
      call_id: callId(place),
      name: tool_call.name,
      arguments: JSON.stringify(tool_call.arguments),
      status: "completed",
    };
    const at = { item_id: `fc_${request}`, output_index: index };
    const given = item.arguments;
    return (
      this.#add({ ...item, arguments: "", status: "in_progress" }) +
      this.#event({ type: "response.function_call_arguments.delta", ...at, delta: given }) +
      this.#event({ type: "response.function_call_arguments.done", ...at, arguments: given }) +
      this.#done({ item, index })
    );
  }

  /** A message that is said again, after its turn was given up, has the id that it had. */
  #newId(id: string): string {
    let free = id;
    for (let n = 2; this.#ids.has(free); n++) free = `${id}_${n}`;
    this.#ids.add(free);
    return free;
  }

  #add(item: ResponseOutputItem): string {
    const output_index = this.#output.push(item) - 1;
    return this.#event({ type: "response.output_item.added", output_index, item });
  }

  #done({ item, index }: Placed<ResponseOutputItem>): string {
    this.#output[index] = item;
    return this.#event({ type: "response.output_item.done", output_index: index, item });
  }

  #part(
    what: "added" | "done",
    item_id: string,
    output_index: number,
    part: ResponseOutputText | ReturnType<typeof reasoningText>,
  ): string {
    return this.#event({
      type: `response.content_part.${what}`,
      item_id,
      output_index,
      content_index: 0,
      part,
    });
  }

  #event(event: Event): string {
    const sequence_number = this.#sequence.next();
    const { form, startingAfter } = this.#options;
    if (form === "whole" || sequence_number <= startingAfter) return "";
    return namedEvent({ ...event, sequence_number });
  }
}

export const makeResponseEncoder: MakeEncoder = (options) =>
  new ResponseEncoder(readOptions(options));

function outputText(text: string): ResponseOutputText {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function reasoningText(text: string): { type: "reasoning_text"; text: string } {
  return { type: "reasoning_text", text };
}
