import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { cpuMilliseconds } from "./process.ts";

const alive = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});
// A signal would end this process without the event above.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
  process.once(signal, () => process.exit(1));

/** Ends with this process, however that ends. */
export function endWithUs<T extends ChildProcess>(child: T): T {
  alive.add(child);
  child.once("exit", () => alive.delete(child));
  return child;
}

/** A Node program in a process of its own, so that its CPU and memory are not counted as ours. */
export interface NodeChild<T> extends AsyncDisposable {
  /** The first line of its output. */
  hello: T;
  /** Milliseconds of CPU it has used. */
  cpu(): number;
}

/**
 * Starts a program and waits for its first line, which is JSON.
 *
 * @param signal ends the program that has not written it
 */
export async function startNode<T>(
  file: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<NodeChild<T>> {
  const child = endWithUs(
    spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "inherit"] }),
  );
  const kill = (): void => void child.kill("SIGKILL");
  signal?.addEventListener("abort", kill);
  const hello = await new Promise<T>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${file} ended with ${String(code)}`)));
    createInterface({ input: child.stdout }).once("line", (line) => {
      resolve(JSON.parse(line) as T);
    });
  });
  signal?.removeEventListener("abort", kill);
  return {
    hello,
    cpu: () => cpuMilliseconds(child.pid ?? 0),
    [Symbol.asyncDispose]: () => end(child),
  };
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}
