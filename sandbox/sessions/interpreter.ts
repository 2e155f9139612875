import { ProblemError } from "../problem.ts";
import type {
  BlockResult,
  BlockRun,
  CodeBlock,
  Isolation,
  Runner,
  WorkspaceEntry,
} from "../runner.ts";
import { keepChange, readEntry } from "./entries.ts";
import type { SessionStore } from "./store.ts";
import { apply, difference, EMPTY_WORKSPACE, measure, type Workspace } from "./workspace.ts";

/** The result of a block and the workspace after it. */
export interface BlockOutcome {
  result: Omit<BlockResult, "change">;
  workspace: Workspace;
  /** Paths that the code created and that a workspace cannot have. */
  unkept: readonly string[];
}

/** A folder that was found. */
export interface OpenFolder {
  name: string;
  /** The same for the same content. */
  key: string;
  entries: () => Promise<WorkspaceEntry[]>;
}

const NOTHING_MOUNTED = "[]";

/** The runner of a session, created when it is needed, and the workspace that it has. */
export class Interpreter {
  readonly #isolation: Isolation;
  readonly #store: SessionStore;
  readonly #log: (error: unknown) => void;
  #runner: Runner | undefined;
  /** The workspace of the runner. */
  #copy: Workspace = EMPTY_WORKSPACE;
  /** The folders of the runner. */
  #mounted = NOTHING_MOUNTED;

  constructor(isolation: Isolation, store: SessionStore, log: (error: unknown) => void) {
    this.#isolation = isolation;
    this.#store = store;
    this.#log = log;
  }

  /** Whether there is a runner. */
  get warm(): boolean {
    return this.#runner !== undefined;
  }

  /** Runs a block in a workspace. @throws ProblemError 503 when the isolation fails and the code had no effect */
  async run(
    block: CodeBlock,
    workspace: Workspace,
    {
      onBegin,
      folders,
      ...run
    }: BlockRun & { onBegin: () => void; folders: readonly OpenFolder[] },
  ): Promise<BlockOutcome> {
    try {
      const runner = await this.#ready(workspace, folders);
      onBegin();
      const { change, ...result } = await this.#runIn(runner, block, run);
      const { kept, unkept } = await keepChange(this.#store, change);
      const changed = apply(workspace, kept);
      if (!fits(changed, run)) {
        await this.close();
        return { result: { exitCode: 1, endedBy: "workspace" }, workspace, unkept: [] };
      }
      this.#copy = changed;
      // Entries that are not kept must not be visible to the next block.
      if (!runner.usable || unkept.length > 0) await this.close();
      return { result, workspace: changed, unkept };
    } catch (error) {
      this.#log(error);
      await this.close();
      throw new ProblemError(
        503,
        "isolation_failed",
        "The code could not be run, because of an internal error, which was logged.",
      );
    }
  }

  async close(): Promise<void> {
    const runner = this.#runner;
    this.#runner = undefined;
    this.#copy = EMPTY_WORKSPACE;
    this.#mounted = NOTHING_MOUNTED;
    await runner?.close();
  }

  async #runIn(runner: Runner, block: CodeBlock, run: BlockRun): Promise<BlockResult> {
    try {
      return await runner.run(block, run);
    } catch (error) {
      // A 503 would be retried, and the code would have its effects twice.
      if (!this.#isolation.hasOutsideEffects) throw error;
      this.#log(error);
      await this.close();
      return { exitCode: 1, endedBy: "crashed", change: { set: [], removed: [] } };
    }
  }

  async #ready(workspace: Workspace, folders: readonly OpenFolder[]): Promise<Runner> {
    if (this.#runner?.usable !== true) await this.close();
    this.#runner ??= await this.#isolation.runner();
    const { set, removed } = difference(this.#copy, workspace);
    if (set.size > 0 || removed.length > 0) {
      const entries = [...set].map(([path, entry]) => readEntry(this.#store, path, entry));
      await this.#runner.update({ set: await Promise.all(entries), removed: [...removed] });
      this.#copy = workspace;
    }
    const wanted = JSON.stringify(folders.map(({ name, key }) => [name, key]));
    if (wanted !== this.#mounted) {
      const read = folders.map(async ({ name, entries }) => ({ name, entries: await entries() }));
      await this.#runner.mount(await Promise.all(read));
      this.#mounted = wanted;
    }
    return this.#runner;
  }
}

function fits(workspace: Workspace, { limits }: BlockRun): boolean {
  const { bytes, entries } = measure(workspace);
  return bytes <= limits.workspaceBytes && entries <= limits.workspaceFiles;
}
