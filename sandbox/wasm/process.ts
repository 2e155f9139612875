import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Duplex } from "node:stream";
import { guardChild } from "../guard.ts";
import { packageDirectories } from "./packages.ts";

const MAIN = fileURLToPath(new URL("child/main.ts", import.meta.url));

let ofProgram: readonly string[] | undefined;

/** Everything a child may read: the program itself and the packages it is made of. */
function readableOfProgram(): readonly string[] {
  ofProgram ??= [dirname(dirname(MAIN)), ...packageDirectories(["pyodide", "just-bash"])];
  return ofProgram;
}

export interface Child {
  process: ChildProcess;
  /** To the child. */
  input: Duplex;
  /** From the child. */
  output: Duplex;
  /** The end of what Node has written about it, for whoever wonders why it does not start. */
  said(): string;
}

const SAID_CHARACTERS = 2000;

/** Starts the program of the child, with the least of rights. */
export function startChild(args: string[], readable: string[], heapBytes: number): Child {
  const rights = [...readableOfProgram(), ...readable].map((path) => `--allow-fs-read=${path}`);
  const child = spawn(
    process.execPath,
    [
      "--permission",
      ...rights,
      "--disallow-code-generation-from-strings",
      "--no-addons",
      // It would write files whatever the rights.
      "--no-experimental-sqlite",
      "--no-warnings",
      // The shell abandons promises of files that cannot be written.
      "--unhandled-rejections=none",
      `--max-old-space-size=${Math.ceil(heapBytes / 1024 / 1024)}`,
      MAIN,
      ...args,
    ],
    { env: {}, cwd: dirname(MAIN), stdio: ["ignore", "ignore", "pipe", "pipe", "pipe"] },
  );
  guardChild(child);
  const [, , errors, input, output] = child.stdio as unknown as Duplex[];
  if (errors === undefined || input === undefined || output === undefined)
    throw new Error("no pipes to a child");
  let said = "";
  errors.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-SAID_CHARACTERS);
  });
  // A pipe breaks when the child dies, which is seen by its exit.
  input.on("error", () => undefined);
  output.on("error", () => undefined);
  return { process: child, input, output, said: () => said };
}
