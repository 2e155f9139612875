import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServerLog } from "../server/process/log.ts";
import { ENTRY_SOCKET, type Runtime, type RuntimeMessage } from "../server/runtime.ts";
import { Wrangler, type WranglerOptions } from "./wrangler.ts";

/** Wrangler restarts a runtime that has crashed. If it does not answer within this time, wrangler has failed to. */
const BACK_WITHIN_MS = 60_000;
/** Starts of wrangler in a row before the Worker counts as failed. */
const MOST_STARTS = 3;
const ASKED_EVERY_MS = 200;

export interface WranglerRuntimeOptions extends WranglerOptions {
  log: ServerLog;
  onMessage: (message: RuntimeMessage) => void;
  /** Called when it has ended and is not restarted. */
  onEnd: (why: string, code: number) => void;
}

/**
 * The Worker in wrangler. After the first time that it was ready, wrangler is restarted when it ends, or when it does not
 * restart a crashed runtime: it gives up on a runtime that is killed before it listens.
 */
export class WranglerRuntime implements Runtime {
  readonly #options: WranglerRuntimeOptions;
  #wrangler: Wrangler;
  /** True once it was ready. */
  #supervised = false;
  /** True from its crash until it answers again. */
  #down = false;
  /** Starts of wrangler since the Worker answered last. */
  #starts = 0;
  #stopped = false;

  constructor(options: WranglerRuntimeOptions) {
    this.#options = options;
    this.#wrangler = this.#launch();
  }

  /** Keeps it running and shows its output. */
  supervise(): void {
    this.#supervised = true;
    this.#wrangler.showOutput();
  }

  /** Shows its output so far, and all output that follows. */
  showHeldOutput(): void {
    this.#wrangler.showHeldOutput();
  }

  stop(signal: "SIGTERM" | "SIGKILL"): void {
    this.#stopped = true;
    this.#wrangler.stop(signal);
  }

  get lives(): boolean {
    return this.#wrangler.lives;
  }

  clean(): void {
    this.#options.state.removeVars();
  }

  #launch(): Wrangler {
    const wrangler = new Wrangler(this.#options);
    const current = (): boolean => this.#wrangler === wrangler && !this.#stopped;
    wrangler.onMessage((message) => {
      this.#options.onMessage(message);
      if (message === "crashed" && this.#supervised && current()) void this.#onCrash(current);
    });
    wrangler.onEnd((why, code) => {
      if (!current()) return;
      if (this.#supervised) void this.#startAgain(why);
      else {
        wrangler.showHeldOutput();
        this.#options.onEnd(why, code);
      }
    });
    return wrangler;
  }

  /** @param current whether the wrangler that reported it still runs */
  async #onCrash(current: () => boolean): Promise<void> {
    if (this.#down) return this.#startAgain("The Worker crashed again before it answered.");
    this.#options.log.line(
      "error",
      "The Worker crashed and is restarting. Its runs continue where they were.",
    );
    if ((await this.#answers(current)) || !current()) return;
    return this.#startAgain(`The Worker did not come back within ${BACK_WITHIN_MS / 1000} s.`);
  }

  async #startAgain(why: string): Promise<void> {
    if (++this.#starts > MOST_STARTS) {
      this.#wrangler.showHeldOutput();
      this.#options.onEnd(`${why} Wrangler was started ${MOST_STARTS} times without success.`, 1);
      return;
    }
    this.#wrangler.showHeldOutput();
    this.#options.log.line("error", `${why} Wrangler is restarted.`);
    const old = this.#wrangler;
    old.stop("SIGKILL");
    const wrangler = this.#launch();
    this.#wrangler = wrangler;
    const current = (): boolean => this.#wrangler === wrangler && !this.#stopped;
    if (await this.#answers(current)) wrangler.showOutput();
    else if (current()) await this.#startAgain("The Worker does not answer.");
  }

  /** True if it answers in time. */
  async #answers(current: () => boolean): Promise<boolean> {
    this.#down = true;
    const socket = join(this.#options.sockets.directory, ENTRY_SOCKET);
    const deadline = Date.now() + BACK_WITHIN_MS;
    while (current() && Date.now() < deadline) {
      await sleep(ASKED_EVERY_MS);
      if (!(await answersAt(socket)) || !current()) continue;
      this.#down = false;
      this.#starts = 0;
      return true;
    }
    return false;
  }
}

/** True if a server answers at a Unix socket, with any status. */
function answersAt(socketPath: string): Promise<boolean> {
  return new Promise((answer) => {
    const headers = { host: "127.0.0.1" };
    const sent = request({ socketPath, path: "/healthz", headers, agent: false, timeout: 5_000 });
    sent.on("response", (response) => {
      // Read to its end: workerd logs an error for a response that is cut off.
      response.resume().on("close", () => answer(true));
    });
    sent.on("error", () => answer(false));
    sent.on("timeout", () => sent.destroy());
    sent.end();
  });
}
