import { ProblemError } from "../http/endpoint/problem.ts";

/** Wrong signatures of one trigger after which others are answered with 429, in a window of milliseconds. */
const MOST_WRONG = 20;
const WINDOW_MS = 60_000;
/** Above this number the oldest entry is removed. */
const MOST_ENTRIES = 10_000;

interface Count {
  wrong: number;
  /** The end of the window, epoch milliseconds. */
  until: number;
}

/**
 * Counts events that are not believed, for each address in this isolate. What is signed is never refused for the others: a stranger
 * could otherwise close a trigger.
 */
export class WrongSignatures {
  readonly #counts = new Map<string, Count>();

  /** The answer to an event that is not believed: the same for a trigger that does not exist. */
  refusal(address: string, now: number): ProblemError {
    const { wrong, until } = this.#count(address, now);
    if (wrong <= MOST_WRONG) return notSigned();
    return new ProblemError({
      status: 429,
      code: "too_many_wrong_signatures",
      detail: `More than ${MOST_WRONG} events with wrong signatures have come to this address in a minute.`,
      retry_after: Math.max(1, Math.ceil((until - now) / 1000)),
      extra: { limit: "wrong_signatures", value: MOST_WRONG, window: WINDOW_MS / 1000 },
    });
  }

  #count(address: string, now: number): Count {
    const before = this.#counts.get(address);
    const count =
      before !== undefined && before.until > now ? before : { wrong: 0, until: now + WINDOW_MS };
    count.wrong++;
    this.#counts.delete(address);
    this.#counts.set(address, count);
    if (this.#counts.size > MOST_ENTRIES) {
      const [oldest] = this.#counts.keys();
      if (oldest !== undefined) this.#counts.delete(oldest);
    }
    return count;
  }
}

/** The one answer to a wrong signature and to an address that is not one: it must not reveal which. */
export function notSigned(): ProblemError {
  return new ProblemError(
    {
      status: 401,
      code: "invalid_signature",
      detail:
        "There is no such trigger, or the event is not signed with its secret, or its time is more than five minutes away.",
    },
    { "www-authenticate": 'Bearer realm="troupe"' },
  );
}
