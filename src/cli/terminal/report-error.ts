import { CliError, EXIT, type ExitCode } from "./errors.ts";
import { printable, styler } from "./output.ts";

/**
 * Prints an error to stderr, as text or as a line of JSON, `{"error": {code, message, issues}}`.
 *
 * @returns the exit code
 */
export function reportError(error: unknown, json: boolean): ExitCode {
  const cliError = error instanceof CliError ? error : unexpected(error);
  const { code, message, issues, exitCode } = cliError;
  if (json) {
    process.stderr.write(`${JSON.stringify({ error: { code, message, issues } })}\n`);
    return exitCode;
  }
  const style = styler(process.stderr);
  const places = issues.map(
    ({ path, message: text }) => `  ${path === "" ? "" : `${path}: `}${text}`,
  );
  process.stderr.write(`${style("red", "error:")} ${printable([message, ...places].join("\n"))}\n`);
  return exitCode;
}

function unexpected(error: unknown): CliError {
  return new CliError(error instanceof Error ? error.message : String(error), {
    exitCode: EXIT.error,
  });
}
