import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { end, endWithUs } from "./child.ts";

/** A Node program that answers each line of JSON with another. */
export interface JsonLines extends AsyncDisposable {
  ask<T>(command: object): Promise<T>;
}

/** Starts the program, whose first line says that it is ready. */
export async function startJsonLines(file: string, args: readonly string[]): Promise<JsonLines> {
  const child = endWithUs(
    spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"] }),
  );
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <T>(): Promise<T> => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`${file} ended with ${String(child.exitCode)}`);
    return JSON.parse(value) as T;
  };
  await next();
  return {
    ask: (command) => {
      child.stdin.write(`${JSON.stringify(command)}\n`);
      return next();
    },
    [Symbol.asyncDispose]: () => end(child),
  };
}
