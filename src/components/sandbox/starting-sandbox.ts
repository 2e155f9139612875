import { trimEnd } from "../../core/text/trim-end.ts";
import type { SandboxAddress, SandboxFetch } from "./client/sandbox-connection.ts";

/** The time in which a sandbox starts. */
const STARTS_WITHIN_MS = 60_000;
const EVERY_MS = 200;
/** The longest wait for a sandbox to say how it is. */
const ANSWERS_WITHIN_MS = 2_000;

/**
 * A sandbox that starts together with its server. The first requests wait for it instead of failing; later ones fail at once if it cannot be
 * reached.
 */
export class StartingSandbox {
  readonly address: SandboxAddress;
  readonly #health: string;
  readonly #fetch: SandboxFetch;
  /** The time after which no request waits for it. */
  readonly #until: number;
  #hasAnswered = false;

  /** @param withinMs the time in which it starts. Default: a minute */
  constructor(address: SandboxAddress, { withinMs = STARTS_WITHIN_MS } = {}) {
    this.#fetch = address.fetch ?? ((url, init) => fetch(url, init));
    this.#health = `${trimEnd(address.url, "/")}/healthz`;
    this.#until = Date.now() + withinMs;
    this.address = {
      ...address,
      fetch: async (url, init) => {
        await this.#started(init.signal ?? undefined);
        return this.#fetch(url, init);
      },
    };
  }

  /** `off` if it does not answer after the time in which it starts. */
  async state(): Promise<"starting" | "ready" | "off"> {
    if (await this.#answers()) return "ready";
    return Date.now() < this.#until ? "starting" : "off";
  }

  /** Waits until it answers, or until no request waits for it. @throws the signal's reason */
  async #started(signal: AbortSignal | undefined): Promise<void> {
    while (!this.#hasAnswered && Date.now() < this.#until && !(await this.#answers())) {
      await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
      signal?.throwIfAborted();
    }
  }

  async #answers(): Promise<boolean> {
    try {
      const signal = AbortSignal.timeout(ANSWERS_WITHIN_MS);
      const response = await this.#fetch(this.#health, { method: "GET", signal });
      await response.body?.cancel();
      this.#hasAnswered ||= response.ok;
      return response.ok;
    } catch {
      return false;
    }
  }
}
