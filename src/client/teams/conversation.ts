import type { EventSourceMessage } from "eventsource-parser";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import type { Message } from "../../core/messages/message.ts";
import type { RequestUsage } from "../../core/models/request-usage.ts";
import type {
  ActivityFrame,
  DiscardFrame,
  RetractFrame,
  RetryingFrame,
  RunResultFrame,
  TextFrame,
  TurnFrame,
} from "../../contract/stream/stream-frame.ts";
import type { Problem, RunInfo } from "../http/wire.ts";

/** The text of a message in progress, so far. */
export interface TextInProgress {
  /** The id that the message will have, or its source if the model client does not know the id. */
  id: string;
  source: string;
  content: string;
}

/** The result of a run. */
export interface RunResult {
  stop_reason: string | null;
  usage: RequestUsage;
  /** All messages of the run, including its task unless `output_task_messages` is false. */
  messages: Message[];
}

/** A change in a conversation. */
export type StreamItem =
  | { kind: "message"; message: Exclude<Message, ModelClientStreamingChunkEvent> }
  /** A text in progress. `delta` is the added part; null when it replaces all of the text. */
  | { kind: "text"; text: TextInProgress; delta: string | null }
  /** The text is discarded: the model is called again. */
  | { kind: "discard"; text: TextInProgress }
  /** A model or another dependency could not be reached. The next attempt is at `next_attempt_at`. */
  | { kind: "retrying"; retrying: RetryingFrame }
  /** The steps that are under way; they replace those of the item before. */
  | { kind: "activity"; activity: ActivityFrame }
  /** A turn was finished. */
  | { kind: "turn"; turn: TurnFrame }
  /** These messages are discarded: their turn was abandoned. */
  | { kind: "retract"; ids: string[] }
  /** The run's status or its requests to humans changed. */
  | { kind: "run"; run: RunInfo }
  | { kind: "result"; result: RunResult }
  | { kind: "failed"; problem: Problem };

/**
 * Messages and texts in progress, assembled from the frames of a stream. Interruptions of the stream do not change the result.
 */
export class Conversation {
  readonly #messages = new Map<string, Message>();
  readonly #texts = new Map<string, TextInProgress>();
  /** Texts from before a reconnect that the server has not confirmed yet. */
  #unconfirmed = new Set<string>();
  /** The last chunk of each text, so that a repeated frame counts once. */
  readonly #lastChunks = new Map<string, string>();
  #run: RunInfo | null = null;

  /** The messages that were not retracted. */
  get messages(): Message[] {
    return [...this.#messages.values()];
  }

  get texts(): TextInProgress[] {
    return [...this.#texts.values()];
  }

  /** The run as the stream last showed it; its `requests` are the open questions to humans. */
  get run(): RunInfo | null {
    return this.#run;
  }

  /** Puts earlier messages, oldest first, before the others. */
  prepend(earlier: readonly Message[]): void {
    const later = [...this.#messages];
    this.#messages.clear();
    for (const message of earlier) this.#messages.set(message.id, message);
    for (const [id, message] of later) this.#messages.set(id, message);
  }

  /** Applies a frame. @returns what it changed */
  apply({ event, data }: Pick<EventSourceMessage, "event" | "data">): StreamItem[] {
    const value: unknown = JSON.parse(data);
    switch (event) {
      case undefined:
        return [...this.#dropUnconfirmed(), ...this.#item(value as Message | RunResultFrame)];
      case "caught_up":
        this.#unconfirmed = new Set(this.#texts.keys());
        return [];
      case "snapshot":
        return this.#snapshot(value as TextFrame);
      case "discard":
        return [...this.#dropUnconfirmed(), ...this.#drop(textId(value as DiscardFrame))];
      case "retrying":
        return [{ kind: "retrying", retrying: value as RetryingFrame }];
      case "activity":
        return [{ kind: "activity", activity: value as ActivityFrame }];
      case "turn":
        return [{ kind: "turn", turn: value as TurnFrame }];
      case "retract": {
        const { message_ids: ids } = value as RetractFrame;
        for (const id of ids) this.#messages.delete(id);
        return [...this.#dropUnconfirmed(), { kind: "retract", ids }];
      }
      case "run":
        this.#run = value as RunInfo;
        return [{ kind: "run", run: this.#run }];
      case "failed":
        return [...this.#dropUnconfirmed(), { kind: "failed", problem: value as Problem }];
      default:
        // A frame of a later version of the server.
        return [];
    }
  }

  #item(item: Message | RunResultFrame): StreamItem[] {
    if (item.type === "TaskResult") {
      const { stop_reason, usage, message_ids } = item;
      const messages = message_ids
        .map((id) => this.#messages.get(id))
        .filter((message) => message !== undefined);
      return [{ kind: "result", result: { stop_reason, usage, messages } }];
    }
    if (item.type === "ModelClientStreamingChunkEvent") return this.#chunk(item);
    this.#messages.set(item.id, item);
    // A message ends its own text. A text without a known id is found by its source.
    for (const [id, { source }] of this.#texts) {
      if (id === item.id || source === item.source) this.#forget(id);
    }
    return [{ kind: "message", message: item }];
  }

  #chunk(chunk: ModelClientStreamingChunkEvent): StreamItem[] {
    const id = textId(chunk);
    if (this.#lastChunks.get(id) === chunk.id) return [];
    this.#lastChunks.set(id, chunk.id);
    const { source, content: delta } = chunk;
    const text = { id, source, content: (this.#texts.get(id)?.content ?? "") + delta };
    this.#texts.set(id, text);
    return [{ kind: "text", text, delta }];
  }

  #snapshot(frame: TextFrame): StreamItem[] {
    const id = textId(frame);
    const { source, content } = frame;
    const before = this.#texts.get(id)?.content ?? "";
    this.#unconfirmed.delete(id);
    const text = { id, source, content };
    this.#texts.set(id, text);
    if (content === before) return [];
    const delta = content.startsWith(before) ? content.slice(before.length) : null;
    return [{ kind: "text", text, delta }];
  }

  /** The server no longer has any of these texts. */
  #dropUnconfirmed(): StreamItem[] {
    const ids = [...this.#unconfirmed];
    this.#unconfirmed.clear();
    return ids.flatMap((id) => this.#drop(id));
  }

  #drop(id: string): StreamItem[] {
    const text = this.#texts.get(id);
    if (text === undefined) return [];
    this.#forget(id);
    return [{ kind: "discard", text }];
  }

  #forget(id: string): void {
    this.#texts.delete(id);
    this.#lastChunks.delete(id);
    this.#unconfirmed.delete(id);
  }
}

function textId({ full_message_id, source }: DiscardFrame): string {
  return full_message_id ?? source;
}
