import type { BlockRun, EndedBy } from "../runner.ts";
import { exceedsLimits } from "./workspace-size.ts";
import { memoryOf, type ProcessOwner } from "./process-owner.ts";

const CHECK_INTERVAL_MS = 200;

/** A running block and its resources. */
interface Watched {
  owner: ProcessOwner;
  /** The directory of its workspace. */
  workspace: string;
  run: BlockRun;
  /** Whether its memory is limited here, and not by a cgroup. */
  watchesMemory: boolean;
}

/** Stops a block that exceeds its limits of time, memory or files, or that is cancelled. */
export class Watch {
  readonly #watched: Watched;
  readonly #end: () => void;
  readonly #deadline: NodeJS.Timeout;
  readonly #checks: NodeJS.Timeout;
  /** Why the block was stopped. */
  endedBy: EndedBy | undefined;

  constructor(watched: Watched, end: () => void) {
    const { run } = watched;
    this.#watched = watched;
    this.#end = end;
    this.#deadline = setTimeout(() => this.#stop("timeout"), run.limits.timeoutMs);
    this.#checks = setInterval(() => void this.#check(), CHECK_INTERVAL_MS);
    if (run.signal.aborted) this.#cancelled();
    else run.signal.addEventListener("abort", this.#cancelled, { once: true });
  }

  stop(): void {
    clearTimeout(this.#deadline);
    clearInterval(this.#checks);
    this.#watched.run.signal.removeEventListener("abort", this.#cancelled);
  }

  readonly #cancelled = (): void => this.#stop("cancelled");

  async #check(): Promise<void> {
    const { owner, workspace, run, watchesMemory } = this.#watched;
    if (watchesMemory && (await memoryOf(owner)) > run.limits.memoryBytes) this.#stop("memory");
    if (await exceedsLimits(workspace, run.limits)) this.#stop("workspace");
  }

  #stop(reason: EndedBy): void {
    this.endedBy ??= reason;
    this.#end();
  }
}
