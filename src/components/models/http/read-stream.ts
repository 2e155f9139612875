import { TroupeError } from "../../../core/errors.ts";
import type { Json } from "../../../core/json.ts";
import type { CreateOptions } from "../../../core/models/chat-completion-client.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import type { Piece } from "./answer-formats.ts";
import { AnswerPieces, type ServerAnswer } from "./answer-pieces.ts";
import { readingError, timeoutError, withRequestId } from "./errors.ts";

export interface SendOptions {
  /** Milliseconds to wait for the answer or, while streaming, for its beginning and each further chunk. */
  timeoutMs: number;
  idempotencyKey: string | undefined;
  signal: AbortSignal | undefined;
  trace?: TraceContext | undefined;
  hops?: number | undefined;
  /** Called after the pieces that arrived together, but for the last one. */
  flush?: (() => void) | undefined;
  /** Makes the text so far void, as in {@link CreateOptions.startOver}. */
  startOver?: CreateOptions["startOver"];
  /** Called when the first piece of a text, of a thought or of a call has arrived. */
  arrived?: CreateOptions["arrived"];
}

/**
 * The options of an attempt with another form. A gateway may answer a repeated key with its stored answer.
 * @param count how many attempts were refused
 */
export function attemptOptions(options: SendOptions, count: number): SendOptions {
  const { idempotencyKey } = options;
  if (count === 0 || idempotencyKey === undefined) return options;
  return { ...options, idempotencyKey: `${idempotencyKey}-${count}` };
}

/** Assembles the pieces of an answer, streamed or not. */
export interface AnswerReader<T> {
  /** True once the last piece was read. Those after it are not. */
  readonly ended: boolean;
  /** True once a piece of a text, of a thought or of a call was read. */
  readonly hasBegun?: boolean;
  /** True if a list at the top of a body is one piece. */
  readonly keepsLists?: boolean;
  /** The text that a piece adds to the shown text; may be empty. */
  read(piece: Piece): string;
  /** The rest of the shown text, after the last piece; may be empty. */
  end(): string;
  /** The whole answer, after the last piece. @throws ModelError `bad_response` when it is not complete */
  result(): T;
}

export interface StreamSource<T> {
  /** Sends the request and returns once the answer has started. */
  open(): Promise<{ answer: AnswerPieces; reader: AnswerReader<T> }>;
  /** Completes the result. */
  finish(result: T): T;
  /** The error to throw for an error of {@link open}, the connection or the reader. */
  toError(error: unknown): TroupeError;
  /** True to open once more after such an error, because the request has another form. */
  again?(error: unknown): boolean;
}

/**
 * Yields the text of a streamed answer as it arrives and returns the whole. A consumer that stops early closes the
 * connection.
 *
 * @param prepare called when the first piece is asked for
 * @throws ModelError; the signal's reason when it aborted
 */
export async function* readStream<T>(
  prepare: () => StreamSource<T>,
  { timeoutMs, signal, flush, arrived }: SendOptions,
): AsyncGenerator<string, T, void> {
  const source = prepare();
  for (;;) {
    let answer: AnswerPieces | undefined;
    let watch: StallWatch | undefined;
    let shown = false;
    let waits = arrived !== undefined;
    let complete = false;
    const cancel = (): void => answer?.cancel();
    try {
      const opened = await source.open();
      const { reader } = opened;
      ({ answer } = opened);
      watch = new StallWatch(timeoutMs, cancel);
      signal?.addEventListener("abort", cancel);
      signal?.throwIfAborted();
      for (let pieces = await answer.next(); pieces !== undefined; pieces = await answer.next()) {
        watch.beat();
        for (const piece of pieces) {
          const text = guarded(() => reader.read(piece), piece.value);
          if (waits && (text !== "" || reader.hasBegun === true)) {
            waits = false;
            arrived?.();
          }
          if (text !== "") {
            answer.countText(text.length);
            shown = true;
            yield text;
          }
          if (reader.ended) break;
        }
        // The end of the text is shown together with the message, which follows at once.
        if (reader.ended) break;
        flush?.();
      }
      // A cancelled body ends as if it were complete.
      signal?.throwIfAborted();
      if (watch.stalled) throw timeoutError();
      const rest = guarded(() => reader.end(), "the end of the answer");
      if (rest !== "") yield rest;
      const result = source.finish(guarded(() => reader.result(), "the end of the answer"));
      complete = true;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      if (watch?.stalled) throw timeoutError();
      if (shown || source.again?.(error) !== true)
        throw withRequestId(source.toError(error), answer?.headers);
    } finally {
      watch?.stop();
      signal?.removeEventListener("abort", cancel);
      if (complete) answer?.finish();
      else cancel();
    }
  }
}

/** Reads a piece; an error of the reader itself becomes one about that piece. */
function guarded<T>(read: () => T, piece: unknown): T {
  try {
    return read();
  } catch (error) {
    throw readingError(error, piece);
  }
}

/**
 * Reads an answer that is not streamed.
 *
 * @throws ModelError, ServerFailure or an error of the connection; the signal's reason when it aborted
 */
export async function readAnswer<T>(
  given: ServerAnswer,
  reader: AnswerReader<T>,
  signal: AbortSignal,
): Promise<T> {
  const answer = new AnswerPieces(given, false, reader.keepsLists);
  const cancel = (): void => answer.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  let complete = false;
  try {
    for (let pieces = await answer.next(); pieces !== undefined; pieces = await answer.next()) {
      for (const piece of pieces) if (!reader.ended) guarded(() => reader.read(piece), piece.value);
      if (reader.ended) break;
    }
    // A cancelled body ends as if it were complete.
    signal.throwIfAborted();
    const result = guarded(() => reader.result(), "the end of the answer");
    complete = true;
    return result;
  } catch (error) {
    throw error instanceof TroupeError ? withRequestId(error, answer.headers) : error;
  } finally {
    signal.removeEventListener("abort", cancel);
    if (complete) answer.finish();
    else cancel();
  }
}

/** Reads an answer that is one JSON document. */
export class JsonReader implements AnswerReader<Json> {
  readonly keepsLists = true;
  ended = false;
  #value: Json | undefined;

  read({ value }: Piece): string {
    this.#value = value;
    this.ended = true;
    return "";
  }

  end(): string {
    return "";
  }

  result(): Json {
    return this.#value ?? null;
  }
}

/**
 * Calls back when no beat has come for a while. There is one timer, set again only when it fires: a timer per chunk
 * would cost more than the chunk.
 */
class StallWatch {
  readonly #limitMs: number;
  readonly #onStall: () => void;
  #last = Date.now();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stalled = false;

  constructor(limitMs: number, onStall: () => void) {
    this.#limitMs = limitMs;
    this.#onStall = onStall;
    this.#wait(limitMs);
  }

  get stalled(): boolean {
    return this.#stalled;
  }

  beat(): void {
    this.#last = Date.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      const left = this.#last + this.#limitMs - Date.now();
      if (left > 0) this.#wait(left);
      else {
        this.#stalled = true;
        this.#onStall();
      }
    }, milliseconds);
  }
}
