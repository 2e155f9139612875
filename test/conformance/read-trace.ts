import { readFileSync } from "node:fs";
import { parseTrace, type Trace } from "./trace.ts";

/** @throws Error when the file is not a trace */
export function readTrace(file: string): Trace {
  return parseTrace(readFileSync(file, "utf8"));
}
