import type { IncomingHttpHeaders } from "node:http";
import { PATIENCE } from "../patience.ts";

/** One request to the model as the server saw it. JSON; times are Unix milliseconds. */
export interface RecordedRequest {
  /** From 0, in order of arrival; counts on when the log is cleared. */
  index: number;
  path: string;
  /** The key a client sends along to say which attempts belong together. */
  idempotency_key: string | null;
  headers: IncomingHttpHeaders;
  /** Undefined when the server does not keep bodies. */
  body: unknown;
  /** Name of the rule that matched. */
  rule: string | null;
  /** `held`: waits for a release; `open`: being answered; `done`; `aborted`: the client went away first. */
  state: "held" | "open" | "done" | "aborted";
  status: number | null;
  chunks: number;
  received_at: number;
  ended_at: number | null;
}

/** The requests so far, and waiting for what is to come. */
export class RequestLog {
  readonly requests: RecordedRequest[] = [];
  readonly #waiting = new Set<() => void>();
  #count = 0;

  add(request: Omit<RecordedRequest, "index">): RecordedRequest {
    const recorded = { index: this.#count++, ...request };
    this.requests.push(recorded);
    this.changed();
    return recorded;
  }

  update(request: RecordedRequest, changes: Partial<RecordedRequest>): void {
    Object.assign(request, changes);
    this.changed();
  }

  clear(): void {
    this.requests.length = 0;
  }

  /**
   * Waits until `condition` holds for the log; looks again after each change.
   * @throws Error when it does not within `timeoutMs`
   */
  async until(
    condition: (requests: readonly RecordedRequest[]) => boolean,
    timeoutMs = PATIENCE.timeout,
  ): Promise<void> {
    if (condition(this.requests)) return;
    await new Promise<void>((resolve, reject) => {
      const check = (): void => {
        if (!condition(this.requests)) return;
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(check);
        const seen = this.requests.map(({ index, rule, state }) => `${index}:${rule}:${state}`);
        reject(new Error(`Waited ${timeoutMs} ms for requests; there are: ${seen.join(", ")}`));
      }, timeoutMs);
      this.#waiting.add(check);
    });
  }

  private changed(): void {
    for (const check of this.#waiting) check();
  }
}
