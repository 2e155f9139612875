// The command line: `troupe/cli`, and the program `troupe`.
import { CommanderError } from "commander";
import { EXIT } from "./errors.ts";
import { createProgram } from "./program.ts";
import { reportError } from "./terminal/report-error.ts";

/**
 * Does what a command line says, and sets the exit code of the process. docs/cli.md lists commands and codes.
 *
 * @param args without the program
 */
export async function main(args: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(args, { from: "user" });
  } catch (error) {
    // Commander has printed it.
    if (error instanceof CommanderError) process.exitCode = error.exitCode && EXIT.usage;
    else process.exitCode = reportError(error, args.includes("--json"));
  }
}
