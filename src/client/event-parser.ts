/** A server-sent event. */
export interface ServerEvent {
  /** Undefined for an event without a name. */
  event?: string | undefined;
  id?: string | undefined;
  data: string;
}

/** How long the server asks to wait before the next connection, in milliseconds. */
export interface Retry {
  retry: number;
}

/**
 * Reads server-sent events from a text that comes in pieces, as
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation says. Libraries for it are a
 * sixth of what the client weighs.
 */
export class EventParser {
  /** A line whose end has not come. */
  #rest = "";
  #lines: string[] = [];
  #event: Pick<ServerEvent, "event" | "id"> = {};

  /** The events that are complete with this piece. */
  *feed(piece: string): Generator<ServerEvent | Retry, void, void> {
    // A long line comes in many pieces: it is searched once.
    if (!/[\r\n]/.test(piece)) {
      this.#rest += piece;
      return;
    }
    // A CR at the end may be the first half of a CRLF.
    const lines = (this.#rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const [, name, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line === "") {
        if (this.#lines.length > 0) yield { ...this.#event, data: this.#lines.join("\n") };
        this.#lines = [];
        this.#event = {};
      } else if (name === "data") this.#lines.push(value);
      else if (name === "event") this.#event.event = value || undefined;
      else if (name === "id" && !value.includes("\0")) this.#event.id = value;
      else if (name === "retry" && /^\d+$/.test(value)) yield { retry: Number(value) };
    }
  }
}
