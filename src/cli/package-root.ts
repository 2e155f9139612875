import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The directory of this package: the same files are read whether this is the source or what was compiled from it. */
export const packageRoot = find(import.meta.dirname);

/** The version of this package. */
export const version = (
  JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string }
).version;

function find(directory: string): string {
  return existsSync(join(directory, "package.json")) ? directory : find(dirname(directory));
}
