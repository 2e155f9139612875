import type { BlockRun, EndedBy } from "../runner.ts";
import { memoryOf, type Owner } from "./owner.ts";

const MS_BETWEEN_LOOKS = 200;

/** Ends a block that takes too long or too much memory, or that is cancelled. */
export class Watch {
  readonly #run: BlockRun;
  readonly #end: () => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #looks: NodeJS.Timeout;
  /** Why it has ended the block. */
  endedBy: EndedBy | undefined;

  constructor(owner: Owner, run: BlockRun, end: () => void) {
    this.#run = run;
    this.#end = end;
    this.#deadline = setTimeout(() => this.#because("timeout"), run.limits.timeoutMs);
    this.#looks = setInterval(() => void this.#look(owner), MS_BETWEEN_LOOKS);
    if (run.signal.aborted) this.#cancelled();
    else run.signal.addEventListener("abort", this.#cancelled, { once: true });
  }

  stop(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#looks);
    this.#run.signal.removeEventListener("abort", this.#cancelled);
  }

  readonly #cancelled = (): void => this.#because("cancelled");

  async #look(owner: Owner): Promise<void> {
    if ((await memoryOf(owner)) > this.#run.limits.memoryBytes) this.#because("memory");
  }

  #because(reason: EndedBy): void {
    this.endedBy ??= reason;
    this.#end();
  }
}
