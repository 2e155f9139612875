// The command line: `troupe/cli`, and the program `troupe`.
import { CommanderError } from "commander";
import { CliError, EXIT } from "./terminal/errors.ts";
import { createProgram } from "./program.ts";
import { reportError } from "./terminal/report-error.ts";

/**
 * Runs a command line and sets the exit code of the process. docs/cli.md lists commands and codes.
 *
 * @param args the arguments without the program's name
 */
export async function main(args: readonly string[]): Promise<void> {
  const json = args.includes("--json");
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // The program that reads the output has ended (`troupe logs | head`).
    if (error.code === "EPIPE") process.exit(EXIT.done);
    const message = `Cannot write the output: ${error.message}`;
    process.exit(reportError(new CliError(message, { code: "output_failed" }), json));
  });
  // The error output has ended too, so the error cannot be reported.
  process.stderr.on("error", () => undefined);
  try {
    const program = await createProgram(args);
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    // Commander has printed it.
    if (error instanceof CommanderError) process.exitCode = error.exitCode && EXIT.usage;
    else process.exitCode = reportError(error, json);
  }
}
