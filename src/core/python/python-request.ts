import { endOf } from "../cut.ts";
import type { CodeBlock, CodeResult } from "../code/code-block.ts";
import { hash64 } from "../hash.ts";
import { isJsonObject, type JsonObject } from "../json.ts";

/** Characters of output in an error message. */
const MAX_OUTPUT_LENGTH = 2000;

/** Why a process ended that did not end by itself. */
const REASONS: ReadonlyMap<number, string> = new Map([
  [124, " (it took longer than it may)"],
  [125, " (it was cancelled)"],
  [
    137,
    " (the process was killed, by the limit of memory of the sandbox or by a busy machine; another attempt may succeed)",
  ],
]);

/** The functions of `program/main.py`. */
export type PythonFunction = "inspect_functions" | "call_function";

/** A request to the Python program as a block of code, and the reader of its answers in the block's output. */
export interface PythonRequest {
  block: CodeBlock;
  /** The answers in order, without other output. */
  answers(output: string): JsonObject[];
  /** The exit code and last output of a block that did not answer. */
  end(result: CodeResult): string;
}

/** @param key the step's: a repeated request must be the same code */
export async function pythonRequest(
  entry: PythonFunction,
  request: unknown,
  key: string,
): Promise<PythonRequest> {
  // Loaded lazily: few teams have Python tools, and every isolate would parse it.
  const { PROGRAM } = await import("./program/program.ts");
  const mark = `#troupe-${hash64(key)}-${hash64(key, 1)}:`;
  const code = `${PROGRAM}\n${entry}(${literal(mark)}, ${literal(asciiJson(request))})\n`;
  return {
    block: { language: "python", code },
    answers: (output) =>
      output.split("\n").flatMap((line) => (line.startsWith(mark) ? parsed(line, mark) : [])),
    end: ({ exit_code, output }) => {
      const lines = output.split("\n").filter((line) => !line.startsWith(mark));
      const printed = endOf(lines.join("\n").trim(), MAX_OUTPUT_LENGTH);
      const end = `exit code ${exit_code}${REASONS.get(exit_code) ?? ""}`;
      return printed === "" ? end : `${end}: ${printed}`;
    },
  };
}

/** With only those escapes that JSON and Python share. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Printable ASCII text as a Python literal. */
function literal(text: string): string {
  return JSON.stringify(text);
}

/** The answer in a line; undefined if the line is truncated or the function's own. */
function parsed(line: string, mark: string): JsonObject[] {
  try {
    const answer: unknown = JSON.parse(line.slice(mark.length));
    return isJsonObject(answer) ? [answer] : [];
  } catch {
    return [];
  }
}
