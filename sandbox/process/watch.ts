import type { BlockRun, EndedBy } from "../runner.ts";
import { exceedsLimits } from "./workspace-size.ts";
import { memoryOf, type ProcessOwner } from "./process-owner.ts";

const MS_BETWEEN_LOOKS = 200;

/** What is looked at while a block runs. */
interface Watched {
  owner: ProcessOwner;
  /** The directory it works in. */
  workspace: string;
  run: BlockRun;
}

/** Ends a block that takes too long, too much memory or room for its files, or that is cancelled. */
export class Watch {
  readonly #watched: Watched;
  readonly #end: () => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #looks: NodeJS.Timeout;
  /** Why it has ended the block. */
  endedBy: EndedBy | undefined;

  constructor(watched: Watched, end: () => void) {
    const { run } = watched;
    this.#watched = watched;
    this.#end = end;
    this.#deadline = setTimeout(() => this.#because("timeout"), run.limits.timeoutMs);
    this.#looks = setInterval(() => void this.#look(), MS_BETWEEN_LOOKS);
    if (run.signal.aborted) this.#cancelled();
    else run.signal.addEventListener("abort", this.#cancelled, { once: true });
  }

  stop(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#looks);
    this.#watched.run.signal.removeEventListener("abort", this.#cancelled);
  }

  readonly #cancelled = (): void => this.#because("cancelled");

  async #look(): Promise<void> {
    const { owner, workspace, run } = this.#watched;
    if ((await memoryOf(owner)) > run.limits.memoryBytes) this.#because("memory");
    if (await exceedsLimits(workspace, run.limits)) this.#because("workspace");
  }

  #because(reason: EndedBy): void {
    this.endedBy ??= reason;
    this.#end();
  }
}
