import type { RunInfo } from "../../../../contract/run.ts";
import type { StreamEncoder } from "../../../../contract/stream/stream-format.ts";
import type { StreamFrame } from "../../../../contract/stream/stream-frame.ts";
import { asJson, type JsonObject } from "../../../../core/json.ts";
import type { ChatMessage } from "../../../../core/messages/message.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { RunProjector } from "../../shared/run-projector.ts";
import { AnswerText, type AnswerUpdate, updateOf } from "./answer-text.ts";
import { messageOf, textPart } from "./content.ts";
import { type A2AStreamOptions, streamOptionsSchema } from "./format.ts";
import { taskId } from "../wire/ids.ts";
import {
  agentMessage,
  inContext,
  type RunInContext,
  runMetadata,
  stateOf,
  statusOf,
  taskOf,
  timeOf,
} from "./task.ts";
import type { StreamResponse, TaskStatus } from "../wire/wire.ts";

type Write = (response: StreamResponse, options: A2AStreamOptions) => string;

export function a2aEncoder(write: Write): (options: JsonObject) => StreamEncoder {
  return (options) => new A2AEncoder(streamOptionsSchema.parse(options), write);
}

/**
 * A run as the stream of its task: first the task, then its changes. The text that an agent is writing grows in the
 * artifact `answer`, which in the end is the answer. Messages before the answer become status messages, once it is known
 * that they are not the last; everything else is in the metadata of status updates.
 */
class A2AEncoder implements StreamEncoder {
  readonly #options: A2AStreamOptions;
  readonly #write: Write;
  readonly #projector: RunProjector;
  readonly #text = new AnswerText();
  /** The run as it was last seen. */
  #run: RunInContext | undefined;
  #sentStatus: RunInfo["status"] | undefined;
  /** The last message of an agent, as long as it may be the answer. */
  #last: ChatMessage | undefined;
  #ended = false;
  /** Ids of the questions that were sent last. */
  #asked: string | undefined;
  /** Items from before an answer are not sent again; the projector reads them to know which agents speak for humans. */
  #silent: boolean;

  constructor(options: A2AStreamOptions, write: Write) {
    this.#options = options;
    this.#write = write;
    this.#silent = options.answering !== undefined;
    this.#projector = new RunProjector({ answering: options.answering ?? [], whole: true });
  }

  get ended(): boolean {
    return this.#ended;
  }

  encode(frame: StreamFrame): string {
    return this.#projector
      .take(frame)
      .flatMap((item) => this.#take(item))
      .map((response) => `data: ${this.#write(response, this.#options)}\n\n`)
      .join("");
  }

  #take(item: RunItem): StreamResponse[] {
    if (this.#ended) return [];
    if (item.type === "run") return this.#changed(item.run);
    const run = this.#run;
    if (run === undefined) return [];
    if (this.#silent && isPassing(item)) return this.#pass(item);
    switch (item.type) {
      case "text_start": {
        if (item.role === "human") return [];
        this.#text.start(item);
        return this.#sendLast(run);
      }
      case "text_delta": {
        const grown = this.#text.grow(item, item.delta);
        return grown === undefined ? [] : [this.#artifact(run, updateOf(grown))];
      }
      case "text_end":
        return this.#artifacts(run, this.#text.end(item, item.void));
      case "message": {
        if (item.role === "human") return [];
        const sent = this.#sendLast(run);
        this.#last = item.message;
        return sent;
      }
      case "thought": {
        const { id, source, content } = item;
        return this.#event(run, { type: "ThoughtEvent", id, source, content });
      }
      case "tool_calls": {
        const { id, source, calls } = item;
        return this.#event(run, { type: "ToolCallRequestEvent", id, source, content: calls });
      }
      case "tool_results": {
        const { id, source, results } = item;
        return this.#event(run, { type: "ToolCallExecutionEvent", id, source, content: results });
      }
      case "event":
        return this.#event(run, item.event);
      case "retract": {
        const { messageIds } = item;
        if (this.#last !== undefined && messageIds.includes(this.#last.id)) this.#last = undefined;
        return [this.#working(run, { "troupe/retract": [...messageIds] })];
      }
      case "live":
        return [];
      case "paused":
        // Another turn follows. The encoder that continues then does not know whether the message was sent.
        return this.#sendLast(run);
      case "waiting":
        return this.#waits(inContext(item.run, this.#options.contextId));
      default:
        this.#ended = true;
        return this.#end(run, item);
    }
  }

  #pass(item: PassingItem): StreamResponse[] {
    if (item.type === "live") {
      this.#silent = false;
      this.#last = undefined;
    } else if (item.type === "message" && item.role === "agent") {
      this.#last = item.message;
    }
    return [];
  }

  /** Sends the questions, which ends a stream that does not last until the task's end. */
  #waits(run: RunInContext): StreamResponse[] {
    this.#ended = this.#options.toEnd !== true;
    const asked = run.requests.map(({ id }) => id).join(" ");
    if (asked === this.#asked) return [];
    this.#asked = asked;
    this.#sentStatus = run.status;
    return [...this.#sendLast(run), statusUpdate(run, statusOf(run))];
  }

  #end(run: RunInContext, item: EndItem): StreamResponse[] {
    switch (item.type) {
      case "completed": {
        const { stop_reason, usage } = item.result;
        const metadata = runMetadata({ status: "completed", stop_reason, usage });
        const answer = this.#last === undefined ? [] : [this.#text.close(this.#last)];
        return [
          ...this.#artifacts(run, answer),
          statusUpdate(run, { state: "TASK_STATE_COMPLETED" }, metadata),
        ];
      }
      case "cancelled":
        return [
          ...this.#sendLast(run),
          statusUpdate(run, statusOf({ ...run, ...item.run }), runMetadata(item.run)),
        ];
      case "failed": {
        const { code, detail } = item.problem;
        const error = { "troupe/error": { type: code, message: detail } };
        const message = agentMessage(run, `${run.id}-error`, [textPart(detail)], error);
        const status: TaskStatus = { state: "TASK_STATE_FAILED", message };
        return [...this.#sendLast(run), statusUpdate(run, status, { "troupe/status": "failed" })];
      }
    }
  }

  /** Sends the task at first, and later its status, where no other item has it. */
  #changed(given: RunInfo): StreamResponse[] {
    const { answering = [], historyLength } = this.#options;
    const answered = given.requests.some(({ id }) => answering.includes(id));
    const isFirst = this.#run === undefined;
    // For the client, a task that is being answered is working, and so is one whose items are sent again up to its end.
    const isWorking =
      (given.status === "waiting" && answered) || (isFirst && given.ended_at !== null);
    const shown = inContext(given, this.#options.contextId);
    const run = isWorking
      ? { ...shown, status: "running" as const, error: null, ended_at: null }
      : shown;
    this.#run = run;
    if (isFirst) {
      this.#sentStatus = run.status;
      return [{ task: taskOf(run, historyLength) }];
    }
    if (run.status === this.#sentStatus || run.status === "waiting" || run.ended_at !== null)
      return [];
    this.#sentStatus = run.status;
    const status = { state: stateOf(run.status), timestamp: timeOf(run) };
    return [statusUpdate(run, status, { "troupe/status": run.status })];
  }

  /** The last message was not the answer. */
  #sendLast(run: RunInContext): StreamResponse[] {
    const last = this.#last;
    if (last === undefined) return [];
    this.#last = undefined;
    const message = messageOf(run, last, "ROLE_AGENT");
    return [
      statusUpdate(run, { state: "TASK_STATE_WORKING", message, timestamp: last.created_at }),
    ];
  }

  #event(run: RunInContext, event: object): StreamResponse[] {
    return [...this.#sendLast(run), this.#working(run, { "troupe/event": asJson(event) })];
  }

  #working(run: RunInContext, metadata: JsonObject): StreamResponse {
    return statusUpdate(run, { state: "TASK_STATE_WORKING" }, metadata);
  }

  #artifacts(run: RunInContext, updates: readonly AnswerUpdate[]): StreamResponse[] {
    return updates.map((update) => this.#artifact(run, update));
  }

  #artifact(run: RunInContext, update: AnswerUpdate): StreamResponse {
    return { artifactUpdate: { taskId: taskId(run), contextId: run.contextId, ...update } };
  }
}

type EndItem = Extract<RunItem, { type: "completed" | "cancelled" | "failed" }>;
type PassingItem = Exclude<RunItem, EndItem | { type: "waiting" }>;

function isPassing(item: RunItem): item is PassingItem {
  return !["waiting", "completed", "cancelled", "failed"].includes(item.type);
}

function statusUpdate(
  run: RunInContext,
  status: TaskStatus,
  metadata?: JsonObject,
): StreamResponse {
  const about = { taskId: taskId(run), contextId: run.contextId, status };
  return { statusUpdate: metadata === undefined ? about : { ...about, metadata } };
}
