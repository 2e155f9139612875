import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Calls `gone` once when the parent of this process has ended, also when it was killed. npm starts scripts in a shell that
 * outlives a killed npm, so behind such a shell, npm is watched as well.
 */
export function watchParent(gone: () => void): void {
  const parent = process.ppid;
  const npm = process.env.npm_lifecycle_event && isShell(parent) ? parentOf(parent) : undefined;
  // A child of init (`nohup`, the first process of a container) has no parent to end with.
  if (parent <= 1) return;
  const timer = setInterval(() => {
    if (process.ppid === parent && (npm === undefined || npm <= 1 || parentOf(parent) === npm))
      return;
    clearInterval(timer);
    gone();
  }, 500);
  timer.unref();
}

function isShell(pid: number): boolean {
  return /^-?(.*\/)?(sh|dash|bash|ash|busybox|zsh)$/.test(describe(pid, "comm"));
}

function parentOf(pid: number): number {
  return Number(describe(pid, "ppid"));
}

/** The arguments of a process, the program first; empty if there is no such process. */
export function commandLineOf(pid: number): string {
  return describe(pid, "args");
}

function describe(pid: number, what: "args" | "comm" | "ppid"): string {
  try {
    if (what === "args") return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    // Field 2 is the name in brackets, field 4 the parent.
    const [, comm = "", ppid = ""] =
      /^\d+ \((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return what === "comm" ? comm : ppid;
  } catch {
    // No /proc (macOS), or no such process.
  }
  try {
    return execFileSync("ps", ["-o", `${what}=`, "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return "";
  }
}
