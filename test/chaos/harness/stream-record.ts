import { type Frame, isTerminal } from "./sse-client.ts";

/**
 * Records the frames of a client over all its connections and checks them. Problems are collected, not thrown: a trial
 * reports all of them.
 */
export class StreamRecord {
  /** Recorded frames, in the order received. */
  readonly recorded: Frame[] = [];
  readonly problems: string[] = [];
  discards = 0;
  ended = false;
  /** Texts that were seen piece by piece, and completely. */
  texts = 0;
  /** Text in progress by message id. */
  readonly #texts = new Map<string, string>();

  get cursor(): number | undefined {
    return this.recorded.at(-1)?.id;
  }

  /** A new connection: unfinished text is dropped, a snapshot brings it back. */
  connected(): void {
    this.#texts.clear();
  }

  add(frame: Frame): void {
    if (this.ended && frame.event !== "run") this.#problem(`a frame after the end: ${show(frame)}`);
    if (frame.id !== undefined) this.#recorded(frame);
    if (isTerminal(frame)) {
      // A stream that is opened again after the end starts with the run as it is.
      if (frame.id !== undefined || frame.event !== "run") {
        if (this.ended) this.#problem("a second terminal frame");
        this.ended = true;
      }
    }
    const { event, data } = frame;
    if (event === "snapshot") this.#texts.set(String(data.full_message_id), String(data.content));
    if (event === "discard") {
      this.discards++;
      this.#texts.delete(String(data.full_message_id));
    }
    if (event === undefined && data.type === "ModelClientStreamingChunkEvent") this.#chunk(data);
  }

  #chunk({ full_message_id, content }: Frame["data"]): void {
    const id = String(full_message_id);
    this.#texts.set(id, (this.#texts.get(id) ?? "") + String(content));
  }

  #recorded(frame: Frame): void {
    const last = this.cursor;
    if (last !== undefined && frame.id !== undefined && frame.id <= last) {
      this.#problem(`cursor ${frame.id} came after ${last}`);
    }
    this.recorded.push(frame);
    const { id, content, type } = frame.data;
    if (frame.event !== undefined || typeof id !== "string") return;
    const text = this.#texts.get(id);
    this.#texts.delete(id);
    if (text === content || (type === "ThoughtEvent" && thoughtIn(text) === content)) this.texts++;
    else if (text !== undefined) {
      this.#problem(
        `the pieces of ${String(type)} ${id} were ${JSON.stringify(text)}, its text is ${JSON.stringify(content)}`,
      );
    }
  }

  #problem(text: string): void {
    this.problems.push(`stream: ${text}`);
  }
}

function show({ id, event, data }: Frame): string {
  return `${id ?? "-"} ${event ?? String(data.type)}`;
}

/** Thinking streams between tags, before the text of the answer; that of calls, which are not text, before it. */
function thoughtIn(text = ""): string | undefined {
  return /^<think>([\s\S]*?)<\/think>/.exec(text.slice(text.lastIndexOf("<think>")))?.[1];
}
