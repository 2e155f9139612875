import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { CliError, EXIT } from "../errors.ts";
import { packageRoot } from "../package-root.ts";
import { manifest } from "./manifest.ts";

/** The name of the project in the files of the template. */
const PLACEHOLDER = "my-team";

/** What may be there already. */
const HARMLESS: ReadonlySet<string> = new Set([".git", ".DS_Store"]);

/** A Worker's name is a label of its address. */
const NAME = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * Writes a project into a directory, all of it or nothing.
 *
 * @param directory new or empty; its name becomes that of the project
 * @returns the name
 * @throws CliError when the directory is not empty or its name cannot be that of a Worker
 */
export function writeProject(directory: string): string {
  const target = resolve(directory);
  const name = basename(target);
  if (!NAME.test(name)) throw invalidName(name);
  const existed = requireEmpty(target, directory);
  const files = projectFiles(name);
  const written: string[] = [];
  try {
    for (const [path, text] of files) {
      const file = join(target, path);
      mkdirSync(dirname(file), { recursive: true });
      written.push(path.split(/[/\\]/)[0] ?? path);
      writeFileSync(file, text, { flag: "wx" });
    }
  } catch (error) {
    const all = existed ? written.map((path) => join(target, path)) : [target];
    for (const path of all) rmSync(path, { recursive: true, force: true });
    throw new CliError(`${directory} cannot be written: ${(error as Error).message}`);
  }
  return name;
}

/** The files of a project by their path in it. */
function projectFiles(name: string): Map<string, string> {
  const template = join(packageRoot, "template");
  const files = new Map([["package.json", `${JSON.stringify(manifest(name), null, 2)}\n`]]);
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    // npm leaves files such as .gitignore out of packages, so the template has an underscore for the dot.
    const path = relative(template, file).replace(/^_/, ".");
    files.set(path, readFileSync(file, "utf8").replaceAll(PLACEHOLDER, name));
  }
  return files;
}

/** Whether the directory exists. @throws CliError when it is not empty */
function requireEmpty(target: string, given: string): boolean {
  let entries: string[];
  try {
    entries = readdirSync(target);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw new CliError(`${given} cannot be used: ${message}`, { code: "invalid_directory" });
  }
  const found = entries.filter((entry) => !HARMLESS.has(entry));
  if (found.length === 0) return true;
  const shown = found.slice(0, 3).join(", ") + (found.length > 3 ? ", ..." : "");
  throw new CliError(
    `${given} is not empty (${shown}): a project needs a new or an empty directory.`,
    { code: "directory_not_empty" },
  );
}

function invalidName(name: string): CliError {
  const similar = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, 63)
    .replace(/-+$/, "");
  const example = NAME.test(similar) ? similar : PLACEHOLDER;
  return new CliError(
    `"${name}" cannot name a project: use 2 to 63 lower-case letters, digits and hyphens, beginning with a letter, for example "${example}".`,
    { exitCode: EXIT.usage, code: "invalid_name" },
  );
}
