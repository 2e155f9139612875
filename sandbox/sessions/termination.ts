import type { BlockLimits, EndedBy } from "../runner.ts";

/** Why a block was stopped: by its runner, or by the session because of its output. */
export type Termination = EndedBy | "output";

/** The line that is added to the output of a block that was stopped. */
export function terminationNote(
  reason: Termination,
  limits: BlockLimits & { maxOutputBytes: number },
): string {
  switch (reason) {
    case "timeout":
      return `The code was stopped after ${limits.timeoutMs / 1000} s.`;
    case "memory":
      return `The code was stopped: it needs more than ${limits.memoryBytes} bytes of memory.`;
    case "workspace":
      return `The files that the code left were not kept: a workspace may have ${limits.workspaceBytes} bytes in ${limits.workspaceFiles} files, links and directories.`;
    case "temporary":
      return `The code was stopped: it left more than ${limits.temporaryBytes} bytes, or too many files, outside of its workspace.`;
    case "output":
      return `The code was stopped: it printed more than ${limits.maxOutputBytes} bytes.`;
    case "cancelled":
      return "The code was cancelled.";
    case "crashed":
      return "The interpreter of the code has crashed.";
  }
}

/** The exit code of a block that was stopped. */
export function terminationCode(reason: Termination): number {
  const codes = { timeout: 124, cancelled: 125, memory: 137 };
  return reason in codes ? codes[reason as keyof typeof codes] : 1;
}
