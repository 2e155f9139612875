import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { test, type TestOptions } from "vitest";

/** The path of a program; undefined when the machine does not have it in its path. */
export function findProgram(name: string): string | undefined {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Whether the machine has a program in its path. */
export function hasProgram(name: string): boolean {
  return findProgram(name) !== undefined;
}

const ROOT_USER = "root";

/**
 * Declares tests that need something of the machine besides Node, a shell and coreutils: programs, or `root`. Without it they are
 * skipped, under a name that says why.
 */
export function testWith(...needed: string[]) {
  const missing = needed.filter((one) =>
    one === ROOT_USER ? process.getuid?.() !== 0 : !hasProgram(one),
  );
  return (name: string, body: () => unknown, options: TestOptions | number = {}): void => {
    const given = typeof options === "number" ? { timeout: options } : options;
    if (missing.length === 0) test(name, given, async () => void (await body()));
    else test.skip(`${name} (needs ${missing.join(", ")})`, given, () => undefined);
  };
}

/** A process of this machine. */
export interface RunningProcess {
  pid: number;
  /** The id of its process group. */
  group: number;
  /** Its command line. */
  command: string;
}

/** All processes. */
export function runningProcesses(): RunningProcess[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap(processAt);
  } catch {
    // No /proc, so no Linux: the others have `ps`.
    const lines = execFileSync("ps", ["-A", "-ww", "-o", "pid=,pgid=,args="], { encoding: "utf8" });
    return Array.from(
      lines.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm),
      ([, pid, group, command = ""]) => ({ pid: Number(pid), group: Number(group), command }),
    );
  }
}

/** The command lines of all processes. */
export function commandLines(): string[] {
  return runningProcesses().map(({ command }) => command);
}

function processAt(pid: string): RunningProcess[] {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    // Behind the name in brackets: its state, its parent, its group.
    const [, group] = /^.*\) \S \d+ (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return [{ pid: Number(pid), group: Number(group), command }];
  } catch {
    // The process has ended.
    return [];
  }
}
