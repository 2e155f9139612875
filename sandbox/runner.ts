import type { Wall } from "./setting.ts";

/** A block of code in a request. */
export interface CodeBlock {
  language: string;
  code: string;
}

/** A file, link or directory of a workspace. Paths are relative and separated by `/`. */
export type WorkspaceEntry =
  | { path: string; type: "file"; content: Uint8Array; mode: number }
  | { path: string; type: "link"; target: string }
  | { path: string; type: "directory" };

/**
 * The difference between two workspaces: first the removed paths, then new and changed entries, each directory before its
 * entries.
 */
export interface WorkspaceChange {
  set: WorkspaceEntry[];
  /** Removing a directory removes everything in it. */
  removed: string[];
}

/** A folder that code can read and not change. */
export interface Folder {
  name: string;
  /** Each directory before its entries. */
  entries: readonly WorkspaceEntry[];
}

/** The limits of one block. */
export interface BlockLimits {
  timeoutMs: number;
  memoryBytes: number;
  /** Size of all files of the workspace together. */
  workspaceBytes: number;
  workspaceFiles: number;
  /** Size of all files outside of the workspace. */
  temporaryBytes: number;
}

/** Why a block was stopped. */
export type EndedBy = "timeout" | "memory" | "workspace" | "temporary" | "cancelled" | "crashed";

export interface BlockResult {
  /** For a stopped block: 124 for a timeout, 137 for memory, 125 when cancelled, otherwise 1. */
  exitCode: number;
  endedBy?: EndedBy;
  /** Changes to the workspace; empty when the block had to be killed. */
  change: WorkspaceChange;
}

export interface BlockRun {
  /** Environment variables, in addition to what all code has. */
  env?: Readonly<Record<string, string>> | undefined;
  limits: BlockLimits;
  /** Stops the block; its result then says `cancelled`. */
  signal: AbortSignal;
  /** Called with output while the block runs, standard output and errors in order. */
  onOutput(bytes: Uint8Array): void;
}

/**
 * Runs the blocks of one session, one after the other, and keeps a copy of the workspace between blocks.
 */
export interface Runner {
  /** False after it was killed or crashed; it must then be replaced. */
  readonly usable: boolean;
  /** Applies changes to its copy of the workspace. */
  update(change: WorkspaceChange): Promise<void>;
  /** Replaces the folders that blocks can read and not change, below the directory that `$SANDBOX_FOLDERS` names. */
  mount(folders: readonly Folder[]): Promise<void>;
  /** Runs a block. Resolves whatever the code does. @throws Error when the runner itself fails */
  run(block: CodeBlock, run: BlockRun): Promise<BlockResult>;
  /** Kills its processes. Resolves when they have ended. */
  close(): Promise<void>;
}

/** A kind of isolation, which creates runners. */
export interface Isolation {
  readonly name: "wasm" | "process";
  /** Names and aliases are in lower case. */
  readonly languages: readonly LanguageInfo[];
  /** What isolates real processes besides their users. Empty before `start`. */
  readonly walls: readonly Wall[];
  /** What this machine lacks for full isolation. Empty before `start`. */
  readonly missing: readonly string[];
  /** Whether code can have effects outside its workspace: code that was interrupted must then not run again. */
  readonly hasOutsideEffects: boolean;
  /** Resolves when runners can be created quickly. */
  start(): Promise<void>;
  /** Creates a runner with an empty workspace, for one session only. */
  runner(): Promise<Runner>;
  close(): Promise<void>;
}

export interface LanguageInfo {
  name: string;
  aliases: readonly string[];
  version: string;
  /** What code can import besides the standard library. Left out where that is not known. */
  packages?: readonly { name: string; version: string }[];
}
