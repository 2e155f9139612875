import { beginningOf } from "../../core/cut.ts";
import { trimEnd } from "../../core/text/trim-end.ts";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { CliError, EXIT } from "../terminal/errors.ts";
import { packageRoot, version } from "../terminal/package-root.ts";

/** The placeholder for the project's name in the files of the template. */
const PLACEHOLDER = "my-team";

/** Files that may exist already. */
const HARMLESS: ReadonlySet<string> = new Set([".git", ".DS_Store"]);

/** The name of a Worker, which is a label of its host name. */
const NAME = /^[a-z][a-z0-9-]{0,61}[a-z0-9]$/;

/**
 * Writes a project into a directory, completely or not at all.
 *
 * @param directory new or empty; the project gets its name
 * @returns the name
 * @throws CliError when the directory is not empty or its name is not valid for a Worker
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

/** The files of a project by path. */
function projectFiles(name: string): Map<string, string> {
  const template = join(packageRoot, "template");
  const files = new Map([["package.json", `${JSON.stringify(manifest(name), null, 2)}\n`]]);
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    // npm leaves files such as .gitignore out of packages, so the template has an underscore in place of the dot.
    const path = relative(template, file).replace(/^_/, ".");
    files.set(path, readFileSync(file, "utf8").replaceAll(PLACEHOLDER, name));
  }
  return files;
}

/** True if the directory exists. @throws CliError when it is not empty */
function requireEmpty(target: string, input: string): boolean {
  let entries: string[];
  try {
    entries = readdirSync(target);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw new CliError(`${input} cannot be used: ${message}`, { code: "invalid_directory" });
  }
  const found = entries.filter((entry) => !HARMLESS.has(entry));
  if (found.length === 0) return true;
  const visible = found.slice(0, 3).join(", ") + (found.length > 3 ? ", ..." : "");
  throw new CliError(
    `${input} is not empty (${visible}). A project needs a new or an empty directory.`,
    { code: "directory_not_empty" },
  );
}

function invalidName(name: string): CliError {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  const similar = trimEnd(beginningOf(words.replace(/^[^a-z]+/, ""), 63), "-");
  const example = NAME.test(similar) ? similar : PLACEHOLDER;
  return new CliError(
    `"${name}" is not a valid project name: use 2 to 63 lower-case letters, digits and hyphens, beginning with a letter, for example "${example}".`,
    { exitCode: EXIT.usage, code: "invalid_name" },
  );
}

/**
 * The package.json of a new project, with the versions that Troupe is tested with.
 *
 * @param name the name of the package and its Worker
 */
function manifest(name: string): object {
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    // The Node that runs npm. The project installs its own.
    engines: { node: ">=22.12" },
    scripts: {
      start: "troupe dev",
      test: 'node --test "test/**/*.test.ts"',
      lint: "oxlint",
      types: "tsc",
      build: "wrangler deploy --dry-run --outdir dist",
      deploy: "troupe deploy",
    },
    dependencies: { troupe: version, zod: "4.6.7" },
    devDependencies: {
      "@cloudflare/workers-types": "5.20261026.1",
      "@types/node": "24.19.2",
      node: "26.10.0",
      oxlint: "1.94.0",
      typescript: "7.0.2",
      wrangler: "4.155.0",
    },
    allowScripts: { esbuild: true, fsevents: true, node: true, workerd: true },
  };
}
