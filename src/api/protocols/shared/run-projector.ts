import type { RunInfo } from "../../../contract/run.ts";
import type { StreamFrame, TextFrame } from "../../../contract/stream/stream-frame.ts";
import {
  cutText,
  placeOfPiece,
  type PiecePlace,
  type TextPieces,
} from "../../../contract/stream/text-pieces.ts";
import { isChatMessage, toText } from "../../../core/messages/views.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import type { Role, RunItem, TextPlace } from "./run-item.ts";

type FrameOf<Event extends StreamFrame["event"]> = Extract<StreamFrame, { event: Event }>["data"];

interface OpenText extends TextPlace {
  shown: string;
}

/** The beginning of a text: its source, and the part of its id that stands for an unknown message. */
interface Begun {
  source: string;
  name: string;
}

export interface RunProjectorOptions {
  /**
   * Ids of questions that are being answered. While one of them is open, the run counts as running, because the stream was
   * opened before the answers were given.
   */
  answering?: readonly string[];
  /** Agents that speak for a human, as far as earlier frames say. */
  proxies?: readonly string[];
  /**
   * True if the stream has the run from its beginning: its events then say who speaks for a human. Otherwise the agents
   * that ask for input when the stream begins count as humans, although agents that speak for themselves may ask, too.
   */
  whole?: boolean;
  /** True if a text that was streamed earlier comes in its pieces, rather than as one. */
  inPieces?: boolean;
}

/** Turns the frames of a run's stream into its items. */
export class RunProjector {
  readonly #answering: readonly string[];
  readonly #whole: boolean;
  readonly #inPieces: boolean;
  /** By the message's id, or the source where it is not known. */
  readonly #texts = new Map<string, OpenText>();
  /** The number of starts of each message's text. */
  readonly #attempts = new Map<string, number>();
  /** Agents that speak for a human. */
  readonly #proxies: Set<string>;
  #snapshots = 0;
  #run: RunInfo | undefined;
  #isLive = false;
  #ended = false;

  constructor({
    answering = [],
    proxies = [],
    whole = false,
    inPieces = false,
  }: RunProjectorOptions = {}) {
    this.#answering = answering;
    this.#whole = whole;
    this.#inPieces = inPieces;
    this.#proxies = new Set(["user", ...proxies]);
  }

  /**
   * The items of a frame: none for one that says nothing new, and none after the end.
   *
   * @param pieces those that its text was streamed in
   */
  take(frame: StreamFrame, pieces?: TextPieces): RunItem[] {
    if (this.#ended) return [];
    switch (frame.event) {
      case "message":
        return "message_ids" in frame.data
          ? this.#end({ type: "completed", result: frame.data, run: this.#run })
          : this.#message(frame.data, pieces);
      case "run":
        return this.#changed(frame.data, frame.id !== undefined);
      case "caught_up":
        this.#isLive = true;
        // The stream began while the questions were open.
        for (const { kind, source } of this.#whole ? [] : (this.#run?.requests ?? []))
          if (kind === "input") this.#proxies.add(source);
        return [{ type: "live" }, ...this.#waiting()];
      case "snapshot":
        return this.#snapshot(frame.data, pieces);
      case "discard":
        return this.#endText(keyOf(frame.data), true);
      case "turn":
        // A text that was streamed in it and is not in a message will not be in one.
        return this.#voidTexts();
      case "retrying":
      case "activity":
      case "memory":
        return [];
      case "retract":
        return [{ type: "retract", messageIds: frame.data.message_ids }];
      case "failed": {
        const { status, code, detail, errors } = frame.data;
        return this.#end({
          type: "failed",
          problem: { status, code, detail, ...(errors !== undefined && { errors }) },
        });
      }
    }
  }

  #changed(run: RunInfo, cancelled: boolean): RunItem[] {
    this.#run = run;
    if (cancelled) return this.#end({ type: "cancelled", run });
    return [{ type: "run", run }, ...(this.#isLive ? this.#waiting() : [])];
  }

  /** The turn of a run that rests will run again, and its texts come again. */
  #waiting(): RunItem[] {
    const run = this.#run;
    if (run?.status === "paused") return [...this.#voidTexts(), { type: "paused" }];
    if (run?.status !== "waiting") return [];
    const answered = run.requests.every(({ id }) => !this.#answering.includes(id));
    return answered ? [...this.#voidTexts(), { type: "waiting", run }] : [];
  }

  #message(message: Message, pieces: TextPieces | undefined): RunItem[] {
    if (message.type === "ModelClientStreamingChunkEvent") {
      const { content, source, id } = message;
      return content === ""
        ? []
        : this.#grow(keyOf(message), { source, name: id }, content, pieces && placeOfPiece(pieces));
    }
    if (isChatMessage(message)) return this.#said(message, pieces);
    const { id, source } = message;
    if (message.type === "UserInputRequestedEvent") this.#proxies.add(source);
    const content = contentOf(message);
    const streamed = this.#inPieces && pieces !== undefined && typeof content === "string";
    const isNew = ![...this.#texts.values()].some((text) => text.source === source);
    const items = [
      ...(streamed && isNew ? this.#growTo(id, { source, name: id }, content, pieces) : []),
      // A text that turns out to be a thought has its id.
      ...(this.#texts.has(id) ? this.#endText(id, true) : []),
      // Any other text of the source than what the event says is in no message.
      ...[...this.#texts].flatMap(([key, text]) =>
        text.source === source ? this.#endText(key, text.shown !== content) : [],
      ),
    ];
    switch (message.type) {
      case "ThoughtEvent":
        return [...items, { type: "thought", id, source, content: message.content }];
      case "ToolCallRequestEvent":
        return [...items, { type: "tool_calls", id, source, calls: message.content }];
      case "ToolCallExecutionEvent":
        return [...items, { type: "tool_results", id, source, results: message.content }];
      default:
        return [...items, { type: "event", event: message }];
    }
  }

  #said(message: ChatMessage, pieces: TextPieces | undefined): RunItem[] {
    const { id, source } = message;
    const key = this.#texts.has(id) ? id : this.#texts.has(source) ? source : id;
    return [
      // Others of the source are in no message.
      ...[...this.#texts].flatMap(([other, text]) =>
        other !== key && text.source === source ? this.#endText(other, true) : [],
      ),
      ...this.#growTo(key, { source, name: id }, toText(message), pieces),
      ...this.#endText(key),
      { type: "message", message, role: this.#roleOf(source) },
    ];
  }

  #snapshot(text: TextFrame, pieces: TextPieces | undefined): RunItem[] {
    const begun = { source: text.source, name: String(++this.#snapshots) };
    return this.#growTo(keyOf(text), begun, text.content, pieces);
  }

  /** A text is this, up to now: one that was shown otherwise is void. */
  #growTo(key: string, begun: Begun, content: string, pieces: TextPieces | undefined): RunItem[] {
    const sent = this.#texts.get(key)?.shown ?? "";
    if (!content.startsWith(sent)) {
      return [...this.#endText(key, true), ...this.#growTo(key, begun, content, pieces)];
    }
    if (pieces === undefined || !this.#inPieces) {
      const added = content.slice(sent.length);
      return added === "" ? [] : this.#grow(key, begun, added);
    }
    return [...cutText(content, pieces, sent.length)].flatMap(({ piece, place }) =>
      this.#grow(key, begun, piece, place),
    );
  }

  #grow(key: string, { source, name }: Begun, delta: string, at?: PiecePlace): RunItem[] {
    const placed = at && { place: at };
    const open = this.#texts.get(key);
    if (open !== undefined) {
      open.shown += delta;
      return [{ type: "text_delta", ...placeOf(open), delta, ...placed }];
    }
    // A text without the id of its message gets one of its own, which no other text of the team has, nor one that another
    // encoder of the same stream has sent.
    const messageId = key === source ? `${this.#run?.id ?? ""}-${source}-${name}` : key;
    const attempt = (this.#attempts.get(messageId) ?? 0) + 1;
    this.#attempts.set(messageId, attempt);
    const text = { messageId, attempt, source, shown: delta };
    this.#texts.set(key, text);
    const own = placeOf(text);
    return [
      { type: "text_start", ...own, role: this.#roleOf(source), ...placed },
      { type: "text_delta", ...own, delta, ...placed },
    ];
  }

  #endText(key: string, isVoid = false): RunItem[] {
    const text = this.#texts.get(key);
    this.#texts.delete(key);
    if (text === undefined) return [];
    return [{ type: "text_end", ...placeOf(text), content: text.shown, void: isVoid }];
  }

  #end(item: RunItem): RunItem[] {
    this.#ended = true;
    return [...this.#voidTexts(), item];
  }

  #voidTexts(): RunItem[] {
    return [...this.#texts.keys()].flatMap((key) => this.#endText(key, true));
  }

  #roleOf(source: string): Role {
    return this.#proxies.has(source) ? "human" : "agent";
  }
}

function keyOf({ full_message_id, source }: FrameOf<"discard">): string {
  return full_message_id ?? source;
}

function contentOf(message: Message): unknown {
  return "content" in message ? message.content : undefined;
}

function placeOf({ messageId, attempt, source }: OpenText): TextPlace {
  return { messageId, attempt, source };
}
