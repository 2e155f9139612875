import { createInterface, type Interface } from "node:readline";
import type { TeamClient } from "../../client/index.ts";
import { reportError } from "./report-error.ts";

/** Sends each line that is typed into the terminal into the active run, while no question is asked there. */
export class TypedLines {
  readonly #team: TeamClient;
  readonly #signal: AbortSignal;
  #reader: Interface | undefined;
  #run = "";
  /** Lines are sent one after the other: the run reads them in the order in which they were typed. */
  #sent: Promise<void> = Promise.resolve();

  constructor(team: TeamClient, signal: AbortSignal) {
    this.#team = team;
    this.#signal = signal;
  }

  /** Begins to read, unless it does already. @param run the run that gets the lines */
  open(run: string): void {
    this.#run = run;
    if (this.#reader !== undefined || this.#signal.aborted) return;
    // The terminal itself shows what is typed, and handles Ctrl-C.
    this.#reader = createInterface({ input: process.stdin, terminal: false });
    this.#reader.on("line", (line) => {
      this.#sent = this.#sent.then(() => this.#send(line.trim()));
    });
  }

  /** Leaves the terminal to questions. Without a reader, the process can end. */
  close(): void {
    if (this.#reader === undefined) return;
    this.#reader.close();
    this.#reader = undefined;
    process.stdin.pause();
  }

  async #send(text: string): Promise<void> {
    if (text === "") return;
    try {
      await this.#team.steer(this.#run, text);
    } catch (error) {
      if (!this.#signal.aborted) reportError(error, false);
    }
  }
}
