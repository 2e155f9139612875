import { createParser, type EventSourceMessage } from "eventsource-parser";
import type { Scope } from "../../../contract/constants.ts";
import type {
  ActivityFrame,
  DiscardFrame,
  RunResultFrame,
  TextFrame,
} from "../../../contract/stream/stream-frame.ts";
import type { ModelClientStreamingChunkEvent } from "../../../core/messages/agent-events.ts";
import type { Message } from "../../../core/messages/message.ts";
import { sharedMessage } from "./shared-message.ts";
import { SpokenText } from "./spoken-text.ts";

/**
 * When a client comes back after the server has closed its stream, in milliseconds. A link has one credential for all its
 * readers: where they are more than a credential may have streams, they take turns.
 */
const RETRY_MS = 2_000;

/**
 * The stream of a team as a shared conversation shows it: the messages as {@link sharedMessage} shows them, and the texts that
 * become such messages while they are written.
 *
 * @param frames a stream of docs/http-api.md
 * @param may whether the credential permits a scope
 */
export function sharedFrames(
  frames: ReadableStream<Uint8Array>,
  may: (scope: Scope) => boolean,
): ReadableStream<Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const shown = new ShownFrames(may);
  let text = "";
  const parser = createParser({
    onEvent: (event) => {
      text += shown.write(event);
    },
    onComment: (comment) => {
      text += `: ${comment}\n\n`;
    },
  });
  const shares = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      parser.feed(decoder.decode(bytes, { stream: true }));
      if (text !== "") controller.enqueue(encoder.encode(text));
      text = "";
    },
    flush(controller) {
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\n\n`));
    },
  });
  return frames.pipeThrough(shares);
}

/** A text in progress. */
interface Text {
  source: string;
  spoken: SpokenText;
  /** The text that can be shown once it is certain to become a message. */
  held: string;
}

/**
 * The frames that are shown, and what is shown of them. Frames that are not listed here are left out, so that those of later
 * versions are not shared by mistake. What a model says before it calls tools is a thought, so a text is buffered until it is
 * certain to become a message.
 */
class ShownFrames {
  readonly #may: (scope: Scope) => boolean;
  readonly #texts = new Map<string, Text>();
  /** Messages that texts are certain to become. */
  readonly #answers = new Set<string>();

  constructor(may: (scope: Scope) => boolean) {
    this.#may = may;
  }

  write(frame: EventSourceMessage): string {
    const data: unknown = JSON.parse(frame.data);
    switch (frame.event) {
      case undefined:
        return this.#item(frame, data as Message | RunResultFrame);
      case "caught_up":
      case "retract":
        return written(frame, data);
      case "snapshot":
        return this.#snapshot(data as TextFrame);
      case "discard":
        return this.#discard(data as DiscardFrame);
      case "activity":
        return this.#activity(data as ActivityFrame);
      case "turn":
        this.#texts.clear();
        this.#answers.clear();
        return "";
      default:
        return "";
    }
  }

  #item(frame: EventSourceMessage, item: Message | RunResultFrame): string {
    if (item.type === "TaskResult") return "";
    if (item.type === "ModelClientStreamingChunkEvent") return this.#piece(item);
    for (const [id, { source }] of this.#texts) {
      if (id === item.id || source === item.source) this.#texts.delete(id);
    }
    const shown = sharedMessage(item, this.#may);
    return shown === undefined ? "" : written(frame, shown);
  }

  #piece({ id, source, created_at, type, ...piece }: ModelClientStreamingChunkEvent): string {
    const { full_message_id } = piece;
    if (full_message_id === null) return "";
    const text = this.#texts.get(full_message_id) ?? this.#begin(full_message_id, source);
    const content = text.spoken.add(piece.content);
    if (!this.#answers.has(full_message_id)) {
      text.held += content;
      return "";
    }
    if (content === "") return "";
    const base = { id, source, models_usage: null, metadata: {}, created_at };
    return written({}, { ...base, content, full_message_id, type });
  }

  #snapshot({ full_message_id, source, content }: TextFrame): string {
    if (full_message_id === null) return "";
    const text = this.#begin(full_message_id, source);
    text.held = text.spoken.add(content);
    return this.#answers.has(full_message_id) ? release(full_message_id, text) : "";
  }

  #discard({ full_message_id, source }: DiscardFrame): string {
    if (full_message_id === null) return "";
    this.#texts.delete(full_message_id);
    if (!this.#answers.has(full_message_id)) return "";
    return written({ event: "discard" }, { full_message_id, source });
  }

  #activity({ steps }: ActivityFrame): string {
    let frames = "";
    for (const { message_id: id } of steps) {
      if (id === null) continue;
      this.#answers.add(id);
      const text = this.#texts.get(id);
      if (text !== undefined) frames += release(id, text);
    }
    return frames;
  }

  #begin(id: string, source: string): Text {
    const text = { source, spoken: new SpokenText(), held: "" };
    this.#texts.set(id, text);
    return text;
  }
}

/** Sends the buffered part of a text. */
function release(full_message_id: string, text: Text): string {
  const { source, held: content } = text;
  text.held = "";
  if (content === "") return "";
  return written({ event: "snapshot" }, { full_message_id, source, content });
}

function written({ event, id }: Partial<EventSourceMessage>, data: unknown): string {
  const name = event === undefined ? "" : `event: ${event}\n`;
  const cursor = id === undefined ? "" : `id: ${id}\n`;
  return `${name}${cursor}data: ${JSON.stringify(data)}\n\n`;
}
