import { endOf } from "../../src/core/cut.ts";
import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import type { Duplex } from "node:stream";
import { guardChild } from "../guard.ts";
import { packageDirectories } from "./packages.ts";

const MAIN = fileURLToPath(new URL("child/main.ts", import.meta.url));

let programDirectories: readonly string[] | undefined;

/** The directories that a child may read: its program and the packages it uses. */
function readableOfProgram(): readonly string[] {
  programDirectories ??= [dirname(dirname(MAIN)), ...packageDirectories(["pyodide", "just-bash"])];
  return programDirectories;
}

export interface Child {
  process: ChildProcess;
  /** To the child. */
  input: Duplex;
  /** From the child. */
  output: Duplex;
  /** The last error output of the process, for diagnostics. */
  errors(): string;
}

const ERROR_CHARACTERS = 2000;

/** Starts the child with minimal permissions. */
export function startChild(args: string[], readable: string[], heapBytes: number): Child {
  const rights = [...readableOfProgram(), ...readable].map((path) => `--allow-fs-read=${path}`);
  const child = spawn(
    process.execPath,
    [
      "--permission",
      ...rights,
      "--disallow-code-generation-from-strings",
      "--no-addons",
      // It writes files in spite of the permission model.
      "--no-experimental-sqlite",
      "--no-warnings",
      // The shell leaves rejected promises of files that cannot be written.
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
    throw new Error("The child process has no pipes.");
  let written = "";
  errors.setEncoding("utf8").on("data", (text: string) => {
    written = endOf(written + text, ERROR_CHARACTERS);
  });
  // When the child dies, its pipes break; its exit is handled instead.
  input.on("error", () => undefined);
  output.on("error", () => undefined);
  return { process: child, input, output, errors: () => written };
}
