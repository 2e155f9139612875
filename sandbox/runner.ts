/** A block of code of a request. */
export interface CodeBlock {
  language: string;
  code: string;
}

/** A file, link or directory of a workspace as it is to be, or as it was left. Paths are relative, with `/`. */
export type WorkspaceEntry =
  | { path: string; type: "file"; content: Uint8Array; mode: number }
  | { path: string; type: "link"; target: string }
  | { path: string; type: "directory" };

/**
 * What makes one workspace of another: paths that are gone, then entries that are new or different, a directory before what is
 * in it.
 */
export interface WorkspaceChange {
  set: WorkspaceEntry[];
  /** A directory goes with everything in it. */
  removed: string[];
}

/** How much one block may use. */
export interface BlockLimits {
  timeoutMs: number;
  memoryBytes: number;
  /** Of all files of the workspace together. */
  workspaceBytes: number;
  workspaceFiles: number;
}

/** Why a block did not end by itself. */
export type EndedBy = "timeout" | "memory" | "workspace" | "cancelled" | "crashed";

export interface BlockResult {
  /** Of a block that was ended: 124 after a timeout, 137 for memory, 125 when cancelled, else 1. */
  exitCode: number;
  endedBy?: EndedBy;
  /** What the block did to the workspace; nothing when it had to be killed. */
  change: WorkspaceChange;
}

export interface BlockRun {
  limits: BlockLimits;
  /** Ends the block, then the result says `cancelled`. */
  signal: AbortSignal;
  /** What the block prints, standard output and errors in their order, while it runs. */
  onOutput(bytes: Uint8Array): void;
}

/**
 * What runs the blocks of one session, one after the other. It keeps a copy of the workspace between blocks.
 */
export interface Runner {
  /** False once it was killed or has died: then a new one is needed. */
  readonly usable: boolean;
  /** Brings its copy of the workspace up to date. */
  update(change: WorkspaceChange): Promise<void>;
  /** Runs a block. Resolves for whatever the code does. @throws Error when the runner itself fails */
  run(block: CodeBlock, run: BlockRun): Promise<BlockResult>;
  /** Kills what is left. Resolves when it is gone. */
  close(): Promise<void>;
}

/** Makes runners: one kind of isolation. */
export interface Isolation {
  readonly name: "wasm" | "process";
  /** By the names that blocks use, in lower case: `python`, `py`, `sh`, … */
  readonly languages: readonly LanguageInfo[];
  /** Whether code can have effects besides those on its workspace: then what was interrupted must not run again. */
  readonly hasOutsideEffects: boolean;
  /** Resolves once runners can be had quickly. */
  start(): Promise<void>;
  /** A runner with an empty workspace, for one session only. */
  runner(): Promise<Runner>;
  close(): Promise<void>;
}

export interface LanguageInfo {
  name: string;
  aliases: readonly string[];
  version: string;
}
