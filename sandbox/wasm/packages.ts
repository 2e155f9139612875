import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The directories of packages and of all their dependencies. @throws Error when one is not installed */
export function packageDirectories(names: readonly string[]): string[] {
  const found = new Set<string>();
  for (const name of names) collect(name, dirname(fileURLToPath(import.meta.url)), found);
  return [...found];
}

function collect(name: string, from: string, found: Set<string>): void {
  const directory = find(name, from);
  if (found.has(directory)) return;
  found.add(directory);
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as {
    dependencies?: Record<string, string>;
  };
  for (const dependency of Object.keys(manifest.dependencies ?? {}))
    collect(dependency, directory, found);
}

/** Finds a package like Node does: in the nearest `node_modules` that has it. */
function find(name: string, from: string): string {
  for (let at = from; ; at = dirname(at)) {
    const directory = join(at, "node_modules", name);
    if (existsSync(join(directory, "package.json"))) return realpathSync(directory);
    if (dirname(at) === at) throw new Error(`the package ${name} is not installed`);
  }
}
