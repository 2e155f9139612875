import type { LoginKey } from "../../contract/gateways/tenant-gateway.ts";
import type { Result } from "../../contract/result.ts";
import { type ConnectionStore, isSame, type LoginWait } from "./connection-store.ts";

/**
 * The time after a login during which the question that it answers may not be known yet: its run records it after it has
 * asked for the login.
 */
const QUESTION_MS = 60_000;

const RETRY_MS = 5_000;

export interface LoginAnswersOptions {
  store: ConnectionStore;
  /** Answers a question of a run. */
  answer: (wait: LoginWait) => Promise<Result<unknown>>;
  /** Called when {@link LoginAnswers.alarmAt} may have changed. */
  setAlarm: () => void;
}

/** Answers the questions of runs that wait for a login, once a human has logged in, also after a crash. */
export class LoginAnswers {
  readonly #options: LoginAnswersOptions;
  #giving: Promise<void> | undefined;
  #retryAt = 0;

  constructor(options: LoginAnswersOptions) {
    this.#options = options;
  }

  /** Must be called in the transaction that stores the login. */
  loggedIn(key: LoginKey): void {
    const { store, setAlarm } = this.#options;
    const since = Date.now();
    for (const wait of store.waiting()) {
      if (isSame(wait, key)) store.waits({ ...wait, since });
    }
    this.#retryAt = 0;
    queueMicrotask(() => {
      setAlarm();
      void this.give();
    });
  }

  /** When {@link give} has to be called, epoch milliseconds; null until the next login. */
  alarmAt(): number | null {
    return this.#due.length === 0 ? null : this.#retryAt;
  }

  /** Gives the answers that are due. Never rejects. */
  async give(): Promise<void> {
    this.#giving ??= this.#giveAll().finally(() => (this.#giving = undefined));
    await this.#giving;
  }

  get #due(): LoginWait[] {
    return this.#options.store.waiting().filter(({ since }) => since !== null);
  }

  async #giveAll(): Promise<void> {
    const { store, answer, setAlarm } = this.#options;
    this.#retryAt = Date.now() + RETRY_MS;
    await Promise.all(
      this.#due.map(async (wait) => {
        const given = await answer(wait).catch(() => undefined);
        // The team cannot be reached.
        if (given === undefined || (!given.ok && given.problem.status >= 500)) return;
        const isNew = (wait.since ?? 0) + QUESTION_MS > Date.now();
        const mayCome = !given.ok && given.problem.code === "request_not_found" && isNew;
        if (!mayCome) store.endWait(wait);
      }),
    );
    setAlarm();
  }
}
