import type { Answer } from "troupe/client";

/** An answer that was given on this page. */
export type DelayedAnswer =
  /** It can be undone until it is sent. @property sendsAt epoch milliseconds */
  | { phase: "delayed"; answer: Answer; sendsAt: number }
  | { phase: "sending" | "sent"; answer: Answer }
  | { phase: "failed"; error: Error };

type Answers = ReadonlyMap<string, DelayedAnswer>;

export const ANSWER_DELAY_MS = 5_000;

/**
 * Answers that are sent after a delay in which they can be undone. An answer that has left is never undone: whether it has is
 * decided here, and not by what the page has drawn.
 */
export class DelayedAnswers {
  #answers: Answers = new Map();
  readonly #waiting = new Map<string, { timer: ReturnType<typeof setTimeout>; send: () => void }>();
  readonly #listeners = new Set<() => void>();

  /** @param send rejects if the server does not accept the answer */
  give(key: string, answer: Answer, send: () => Promise<unknown>): void {
    const { phase } = this.#answers.get(key) ?? {};
    if (phase !== undefined && phase !== "failed") return;
    const leave = async (): Promise<void> => {
      this.#set(key, { phase: "sending", answer });
      try {
        await send();
        this.#set(key, { phase: "sent", answer });
      } catch (error) {
        this.#set(key, { phase: "failed", error: error as Error });
      }
    };
    const timer = setTimeout(() => this.#send(key), ANSWER_DELAY_MS);
    this.#waiting.set(key, { timer, send: () => void leave() });
    this.#set(key, { phase: "delayed", answer, sendsAt: Date.now() + ANSWER_DELAY_MS });
  }

  /** Takes back an answer that was not sent. */
  undo(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(key);
    this.#set(key, undefined);
  }

  /** Sends what waits: the page is being left. */
  sendAll(): void {
    for (const key of this.#waiting.keys()) this.#send(key);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  read = (): Answers => this.#answers;

  #send(key: string): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(key);
    waiting.send();
  }

  #set(key: string, answer: DelayedAnswer | undefined): void {
    const answers = new Map(this.#answers);
    if (answer === undefined) answers.delete(key);
    else answers.set(key, answer);
    this.#answers = answers;
    for (const listener of this.#listeners) listener();
  }
}
