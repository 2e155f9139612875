import type { BlockRun, EndedBy } from "../runner.ts";
import { type FileSizes, isMore, sizesBelow } from "./file-sizes.ts";
import { heldBy } from "./held.ts";
import type { ProcessOwner } from "./process-owner.ts";
import { leftFiles } from "./shared-directories.ts";

const CHECK_INTERVAL_MS = 100;

/** How many times as many files may be outside of the workspace: package managers unpack many small ones. */
const TEMPORARY_FILES_FACTOR = 25;

/** A running block and its resources. */
export interface Watched {
  owner: ProcessOwner;
  /** Its directories: those for its files, and for shared memory behind walls. */
  workspace: string;
  tmp: string;
  shm: string;
  run: BlockRun;
  /** Whether its memory is limited here, and not by a cgroup. */
  watchesMemory: boolean;
}

/** Stops a block that exceeds its limits of time, memory or files, or that is cancelled. */
export class Watch {
  readonly #watched: Watched;
  readonly #end: () => void;
  readonly #deadline: NodeJS.Timeout;
  #checks: NodeJS.Timeout | undefined;
  #stopped = false;
  /** Why the block was stopped. */
  endedBy: EndedBy | undefined;

  constructor(watched: Watched, end: () => void) {
    const { run } = watched;
    this.#watched = watched;
    this.#end = end;
    this.#deadline = setTimeout(() => this.#stop("timeout"), run.limits.timeoutMs);
    this.#checkLater();
    if (run.signal.aborted) this.#cancelled();
    else run.signal.addEventListener("abort", this.#cancelled, { once: true });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#checks);
    this.#watched.run.signal.removeEventListener("abort", this.#cancelled);
  }

  readonly #cancelled = (): void => this.#stop("cancelled");

  /** One check after the other: a busy machine does not get more of them. */
  #checkLater(): void {
    this.#checks = setTimeout(() => void this.#check(), CHECK_INTERVAL_MS);
  }

  async #check(): Promise<void> {
    const exceeded = await exceededBy(this.#watched);
    if (this.#stopped) return;
    if (exceeded !== undefined) this.#stop(exceeded);
    this.#checkLater();
  }

  #stop(reason: EndedBy): void {
    this.endedBy ??= reason;
    this.#end();
  }
}

/** The limit that a block exceeds. */
async function exceededBy(watched: Watched): Promise<EndedBy | undefined> {
  const { owner, workspace, run, watchesMemory } = watched;
  const { memoryBytes, workspaceBytes, workspaceFiles } = run.limits;
  const held = await heldBy(owner);
  const shared = await sharedMemory(watched);
  if (watchesMemory && held.memory + shared.bytes > memoryBytes) return "memory";
  const most = { bytes: workspaceBytes, files: workspaceFiles };
  if (isMore(await sizesBelow(workspace, most), most)) return "workspace";
  const unnamed = { bytes: held.nameless, files: 0 };
  // Shared memory that counts as memory while the block runs counts as files once the block has ended.
  const others = watchesMemory ? [unnamed] : [unnamed, shared];
  return (await exceedsTemporary(watched, others)) ? "temporary" : undefined;
}

/** Whether the files that a block has left outside of the workspace are more than a session may have. */
export async function leavesTooMuch(
  left: Pick<Watched, "owner" | "tmp" | "shm" | "run">,
): Promise<boolean> {
  return exceedsTemporary(left, [await sharedMemory(left)]);
}

async function exceedsTemporary(
  { owner, tmp, run }: Pick<Watched, "owner" | "tmp" | "run">,
  others: FileSizes[],
): Promise<boolean> {
  const { temporaryBytes, workspaceFiles } = run.limits;
  const most = { bytes: temporaryBytes, files: TEMPORARY_FILES_FACTOR * workspaceFiles };
  const parts = [await sizesBelow(tmp, most), await leftFiles(owner.uid, most), ...others];
  const sizes = parts.reduce((sum, part) => ({
    bytes: sum.bytes + part.bytes,
    files: sum.files + part.files,
  }));
  return isMore(sizes, most);
}

/** The files in shared memory behind walls; they are on the disk of the service. */
function sharedMemory({ shm, run }: Pick<Watched, "shm" | "run">): Promise<FileSizes> {
  const { memoryBytes, workspaceFiles } = run.limits;
  return sizesBelow(shm, { bytes: memoryBytes, files: TEMPORARY_FILES_FACTOR * workspaceFiles });
}
