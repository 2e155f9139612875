import type { Component } from "../component/component.ts";
import type { RequestUsage, UsageDetails } from "../models/request-usage.ts";
import type { RetryPolicy } from "../steps/retry.ts";
import type { StepAttempt, StepSubject } from "../steps/step-attempt.ts";

/** The most numbers of a vector. */
export const MOST_DIMENSIONS = 8192;

/** The vectors of some texts, with the cost of making them. */
export interface EmbeddingResult {
  /** One per text, in the order of the texts. */
  vectors: number[][];
  /** All tokens are prompt tokens. */
  usage: RequestUsage;
  /** `estimate`: the tokens of requests whose server reports none. */
  usage_details?: Omit<UsageDetails, "estimated_tokens"> & { estimate?: RequestUsage };
  /** Name of the model, for usage and prices by model. */
  model: string;
}

/**
 * The port to a model that turns texts into vectors. A client makes one attempt per call and throws a {@link ModelError}
 * that says whether another attempt makes sense; the caller counts attempts.
 */
export interface EmbeddingClient extends Component {
  /** Names its vectors: address, model and dimensions. Only vectors of one space are compared. */
  readonly space: string;
  /** The model's name and who runs it, for traces. */
  readonly subject?: StepSubject | undefined;
  /** @param texts any number; they are sent in requests as large as the server takes. Equal texts are sent once. */
  embed(
    texts: readonly string[],
    options?: Partial<Pick<StepAttempt, "signal" | "idempotencyKey" | "trace">>,
  ): Promise<EmbeddingResult>;
  /** The configured retry policy; undefined for the caller's. */
  retryPolicy?(error: unknown): RetryPolicy | undefined;
  close(): Promise<void>;
}
