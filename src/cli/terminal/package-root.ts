import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { docsPage } from "../../contract/public-names.ts";

/** The directory of this package, from the source as well as from the compiled code. */
export const packageRoot = find(import.meta.dirname);

/** The version of this package. */
export const version = (
  JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8")) as { version: string }
).version;

/** The path of a page of the documentation in this package, or its address on the web. */
export function pageForUser(page: `${string}.md`): string {
  return docsPage(page, relative(process.cwd(), join(packageRoot, "docs")));
}

function find(directory: string): string {
  return existsSync(join(directory, "package.json")) ? directory : find(dirname(directory));
}
