import { ModelError } from "../../../core/models/model-error.ts";
import { MOST_ANSWER_BYTES } from "../../../outgoing/outgoing-fetch.ts";
import { type AnswerFormat, type ArrivedPiece, formatOf, type Piece } from "./answer-formats.ts";
import { type BodyReader, readerOf } from "./body-reader.ts";
import { readingError, ServerFailure } from "./errors.ts";
import { unreadable } from "./fields.ts";
import { failureIn } from "./server-report.ts";

/** The time for the end of a server's answer after the last piece, before the connection is closed. */
const PATIENCE_MS = 500;

/**
 * Limit of a streamed answer, of which each token has some hundred bytes around it. An endless one must not keep a run going
 * for ever.
 */
const LARGEST_STREAM_BYTES = 64 * 1024 * 1024;

/** The most bytes of a piece beside its text: probabilities of tokens, for example. */
const MOST_FORM_BYTES = 16_384;

/** An answer, and who gives it. */
export interface ServerAnswer {
  response: Response;
  /** Its host, for errors. */
  server: string;
}

/**
 * Reads the pieces of an answer, whether it is a stream of events, lines of JSON or one JSON document: servers answer in one of
 * them where another was requested. Pieces that arrived in one packet are returned together, because an `await` per token costs
 * more than everything else that happens to it.
 */
export class AnswerPieces {
  readonly headers: Headers;
  readonly #server: string;
  readonly #limit: number;
  readonly #keepsLists: boolean;
  readonly #body: BodyReader | undefined;
  readonly #decoder = new TextDecoder();
  #format: AnswerFormat | undefined;
  #bytes = 0;
  /** Bytes since the last piece. They are buffered, and must not fill the memory of the isolate. */
  #buffered = 0;
  #characters = 0;
  #largePieces = 0;
  /** The pieces that have arrived and were not looked at yet. */
  readonly #arrived: ArrivedPiece[] = [];
  #ready: Piece[] = [];
  #ended = false;
  /** The error of a piece, which is thrown after those before it were returned. */
  #failure: { error: unknown } | undefined;

  /**
   * @param isStreamed whether the answer was requested in pieces
   * @param keepsLists whether a list is one piece; otherwise each of its items is one
   */
  constructor(
    { response: { body, headers }, server }: ServerAnswer,
    isStreamed: boolean,
    keepsLists = false,
  ) {
    this.#server = server;
    this.#limit = isStreamed ? LARGEST_STREAM_BYTES : MOST_ANSWER_BYTES;
    this.#keepsLists = keepsLists;
    this.headers = headers;
    this.#body = body === null ? undefined : readerOf(body);
  }

  /**
   * The next pieces, perhaps none; undefined after the last.
   *
   * @throws ServerFailure for a reported error
   * @throws ModelError `bad_response` for an answer that is too large, empty, a page, or not JSON
   */
  async next(): Promise<Piece[] | undefined> {
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#ended) return undefined;
    const { done, value } = (await this.#body?.read()) ?? { done: true };
    let text = "the end of the answer";
    try {
      try {
        if (done || value === undefined) {
          this.#ended = true;
          this.#end();
        } else {
          this.#count(value.byteLength);
          text = this.#decoder.decode(value, { stream: true });
          this.#feed(text);
        }
      } finally {
        // An error that a piece reports comes before one of what follows the piece.
        for (const piece of this.#arrived.splice(0)) this.#add(piece);
      }
      if (!this.#ended && this.#ready.length > 0) this.#endPiece();
    } catch (error) {
      this.#failure = { error: readingError(error, text) };
    }
    const ready = this.#ready;
    this.#ready = [];
    if (ready.length === 0 && this.#failure !== undefined) throw this.#failure.error;
    return ready;
  }

  /** After the last piece: waits a moment for the server to end its answer, so that the connection can be reused. */
  finish(): void {
    const timer = setTimeout(() => this.cancel(), PATIENCE_MS);
    void Promise.resolve(this.#ended ? undefined : this.#body?.read())
      .catch(() => undefined) // The reply is complete; a connection that breaks now causes no loss.
      .finally(() => {
        clearTimeout(timer);
        this.cancel();
      });
  }

  /** Closes the connection; a pending {@link next} ends at once. */
  cancel(): void {
    // Rejects when the connection is broken already.
    this.#body?.cancel().catch(() => undefined);
  }

  /** @throws ModelError for an answer above a limit. Another attempt would get the same answer. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#buffered += bytes;
    if (this.#bytes > this.#limit) throw this.#tooLarge("answer", this.#limit);
    if (this.#buffered > MOST_ANSWER_BYTES)
      throw this.#tooLarge("answer has a piece that", MOST_ANSWER_BYTES);
  }

  /** @throws ModelError for more text than an answer may have */
  countText(characters: number): void {
    this.#characters += characters;
    if (this.#characters > MOST_ANSWER_BYTES) throw this.#tooLarge("answer", MOST_ANSWER_BYTES);
  }

  /** Nearly all of a large piece is text. That of small ones is counted where it is read. */
  #endPiece(): void {
    const { length } = this.#ready;
    const most = length * MOST_FORM_BYTES;
    this.#largePieces += Math.max(0, this.#buffered - most);
    this.#buffered = 0;
    if (this.#largePieces > MOST_ANSWER_BYTES) throw this.#tooLarge("answer", MOST_ANSWER_BYTES);
  }

  #tooLarge(what: string, limit: number): ModelError {
    const message = `The model server's ${what} is larger than ${limit} bytes, the most that is read ("${this.#server}")`;
    return new ModelError("bad_response", message, { retryable: false });
  }

  #end(): void {
    if (this.#format === undefined)
      throw new ModelError("bad_response", "The model server's answer is empty");
    this.#format.end();
  }

  #feed(text: string): void {
    if (this.#format === undefined) {
      const start = text.trimStart();
      if (start === "") return;
      this.#format = formatOf(start, this.#arrived);
      this.#format.feed(start);
    } else this.#format.feed(text);
  }

  #add({ value, event }: ArrivedPiece): void {
    if (value === null) return;
    const failure = value === undefined ? undefined : failureIn(value, event);
    if (failure !== undefined) throw new ServerFailure(failure, undefined, this.headers);
    if (Array.isArray(value) && !this.#keepsLists)
      for (const item of value) this.#add({ event, value: item });
    else if (value === undefined || typeof value === "object") this.#ready.push({ value, event });
    else throw unreadable("a piece that is not a JSON object", value);
  }
}
