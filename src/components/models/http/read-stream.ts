import type { TroupeError } from "../../../core/errors.ts";
import type { TraceContext } from "../../../core/steps/step-attempt.ts";
import type { AnswerChunks } from "./answer-chunks.ts";
import { timeoutError } from "./errors.ts";
import { StallWatch } from "./stall-watch.ts";

export interface SendOptions {
  /** Milliseconds to wait for the answer or, while streaming, for its beginning and each further chunk. */
  timeoutMs: number;
  idempotencyKey: string | undefined;
  signal: AbortSignal | undefined;
  trace?: TraceContext | undefined;
  /** Called after the pieces of each batch of chunks that arrived together, but for the last one. */
  flush?: (() => void) | undefined;
}

/** Assembles the chunks of an answer. */
export interface ChunkReader<Chunk, T> {
  /** The text that a chunk adds to the shown text; may be empty. */
  read(chunk: Chunk): string;
  /** The whole answer, after the last chunk. @throws ModelError `bad_response` when it is not complete */
  result(): T;
}

export interface StreamSource<Chunk> {
  /** Sends the request and returns once the answer has started. */
  open(): Promise<AnswerChunks<Chunk>>;
  /** The error to throw for an error of {@link open}, the connection or the reader. */
  toError(error: unknown): TroupeError;
  /** Whether to open once more after such an error, because the request has another form. */
  again?(error: unknown): boolean;
}

/**
 * Yields the text of a streamed answer as it arrives and returns the whole. A consumer that stops early closes the
 * connection.
 *
 * @param prepare called when the first piece is asked for
 * @throws ModelError; the signal's reason when it aborted
 */
export async function* readStream<Chunk, T>(
  prepare: () => StreamSource<Chunk>,
  reader: ChunkReader<Chunk, T>,
  { timeoutMs, signal, flush }: SendOptions,
): AsyncGenerator<string, T, void> {
  const source = prepare();
  for (;;) {
    let answer: AnswerChunks<Chunk> | undefined;
    let watch: StallWatch | undefined;
    let shown = false;
    let complete = false;
    const cancel = (): void => answer?.cancel();
    try {
      answer = await source.open();
      watch = new StallWatch(timeoutMs, cancel);
      signal?.addEventListener("abort", cancel);
      signal?.throwIfAborted();
      for (let chunks = await answer.next(); chunks !== undefined; chunks = await answer.next()) {
        watch.beat();
        for (const chunk of chunks) {
          const piece = reader.read(chunk);
          if (piece === "") continue;
          shown = true;
          yield piece;
        }
        // The end of the text is shown together with the message, which follows at once.
        if (!answer.ended) flush?.();
      }
      // A cancelled body ends as if it were complete.
      signal?.throwIfAborted();
      if (watch.stalled) throw timeoutError();
      const result = reader.result();
      complete = true;
      return result;
    } catch (error) {
      signal?.throwIfAborted();
      if (watch?.stalled) throw timeoutError();
      if (shown || source.again?.(error) !== true) throw source.toError(error);
    } finally {
      watch?.stop();
      signal?.removeEventListener("abort", cancel);
      if (complete) answer?.finish();
      else cancel();
    }
  }
}

/** The headers of a request that come from the step that makes it. */
export function requestHeaders({
  idempotencyKey,
  trace,
}: Pick<SendOptions, "idempotencyKey" | "trace">): Record<string, string> {
  return {
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...trace,
  };
}
