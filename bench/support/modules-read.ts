import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const INNER = "inner.js";
const READ = "/modules-read";

/**
 * Lets a Worker report at `/modules-read` which of its modules have run. The objects of a Worker share its isolate, so theirs are
 * included.
 *
 * @param modules names of the module files in `directory`, the entry first
 * @returns the names with one more: what was the entry
 */
export function noteReads(directory: string, modules: readonly string[]): string[] {
  const [entry = "", ...parts] = modules;
  renameSync(join(directory, entry), join(directory, INNER));
  for (const name of [INNER, ...parts]) {
    if (!name.endsWith(".js")) continue;
    const path = join(directory, name);
    const note = `(globalThis.modulesRead??=[]).push(${JSON.stringify(name)});`;
    writeFileSync(path, note + readFileSync(path, "utf8"));
  }
  writeFileSync(
    join(directory, entry),
    `import inner from "./${INNER}";
export * from "./${INNER}";
export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "${READ}") return Response.json(globalThis.modulesRead);
    return inner.fetch(request, env, context);
  },
};`,
  );
  return [entry, INNER, ...parts];
}

/** Modules that a Worker of {@link noteReads} has run, by their names in the bundle without it. */
export async function modulesRead(
  { modules }: { modules: readonly string[] },
  origin: string,
): Promise<string[]> {
  const response = await fetch(origin + READ);
  const names = (await response.json()) as string[];
  return names.map((name) => (name === INNER ? (modules[0] ?? "") : name));
}
