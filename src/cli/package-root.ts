import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The directory of this package, from the source as well as from the compiled code. */
export const packageRoot = find(import.meta.dirname);

/** The version of this package. */
export const version = (
  JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string }
).version;

function find(directory: string): string {
  return existsSync(join(directory, "package.json")) ? directory : find(dirname(directory));
}
