import type { CodeBlock, CodeResult } from "../code/code-block.ts";
import { hash64 } from "../ids.ts";
import { isJsonObject, type JsonObject } from "../json.ts";

/** Characters of what was printed that are shown where something went wrong. */
const LAST_PRINTED = 2000;

/** What our Python can be asked to do. */
export type Entry = "inspect_functions" | "call_function";

/** Our Python with a request, as a block of code, and how its answers are found in what the block prints. */
export interface PythonRequest {
  block: CodeBlock;
  /** The answers, in their order. Whatever else was printed is left out. */
  answers(output: string): JsonObject[];
  /** How a block ended that left an answer out, with the last of what it printed besides. */
  end(result: CodeResult): string;
}

/** @param key of the step: the same request must be the same code when it is made again */
export async function pythonRequest(
  entry: Entry,
  request: unknown,
  key: string,
): Promise<PythonRequest> {
  // Every start of an isolate would read it, and few teams have Python tools.
  const { PROGRAM } = await import("./program/program.ts");
  const mark = `#troupe-${hash64(key)}-${hash64(key, 1)}:`;
  const code = `${PROGRAM}\n${entry}(${literal(mark)}, ${literal(asciiJson(request))})\n`;
  return {
    block: { language: "python", code },
    answers: (output) =>
      output.split("\n").flatMap((line) => (line.startsWith(mark) ? parsed(line, mark) : [])),
    end: ({ exit_code, output }) => {
      const lines = output.split("\n").filter((line) => !line.startsWith(mark));
      const printed = lines.join("\n").trim().slice(-LAST_PRINTED);
      return `exit code ${exit_code}${printed === "" ? "" : `: ${printed}`}`;
    },
  };
}

/** Without anything that needs an escape beyond those that JSON and Python share. */
function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** A printable ASCII text as a literal of Python. */
function literal(text: string): string {
  return JSON.stringify(text);
}

/** A line may be broken off, or be the function's own. */
function parsed(line: string, mark: string): JsonObject[] {
  try {
    const answer: unknown = JSON.parse(line.slice(mark.length));
    return isJsonObject(answer) ? [answer] : [];
  } catch {
    return [];
  }
}
