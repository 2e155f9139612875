import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { CliError } from "../terminal/errors.ts";
import { packageRoot } from "../terminal/package-root.ts";
import { type BuiltWorkerManifest, MANIFEST, manifestIssues } from "./manifest.ts";

/** A Worker that runs without another build. */
export interface BuiltWorker {
  directory: string;
  manifest: BuiltWorkerManifest;
}

export const CONFIGURATIONS = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];

/** The directories of the package's own Worker: published, and in a clone. */
const OWN = ["lib/built", "dist"];

/**
 * The Worker of the project in `root`; without a project, the one of this package.
 *
 * @throws CliError when it was not built, or cannot be run here
 */
export function findBuiltWorker(root: string): BuiltWorker {
  const isProject = CONFIGURATIONS.some((name) => existsSync(join(root, name)));
  const directories = isProject ? [join(root, "dist")] : OWN.map((path) => join(packageRoot, path));
  const directory = directories.find((path) => existsSync(join(path, MANIFEST)));
  if (directory === undefined) {
    throw new CliError(
      `There is no built Worker in ${directories[0]}. Build it: npx troupe build${isProject ? "" : `, in ${packageRoot}`}`,
      { code: "not_built" },
    );
  }
  const manifest = readManifest(join(directory, MANIFEST));
  const [binding] = manifest.elsewhere;
  if (binding !== undefined) {
    throw new CliError(
      `The Worker in ${directory} has the binding ${binding.binding} (${binding.kind}), which troupe serve does not have. Build it for an environment without this binding: npx troupe build --env NAME`,
      { code: "binding_unavailable" },
    );
  }
  return { directory, manifest };
}

/** @throws CliError naming the invalid field */
function readManifest(file: string): BuiltWorkerManifest {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CliError(`${file} cannot be read: ${(error as Error).message}`);
  }
  const [issue] = manifestIssues(json);
  if (issue === undefined) return json as BuiltWorkerManifest;
  throw new CliError(
    `${file} is invalid: ${[issue.path, issue.message].filter(Boolean).join(": ")}. Build the Worker again: npx troupe build`,
    { code: "invalid_build" },
  );
}

/** The directory of a Worker's static assets; undefined without them. */
export function assetsDirectory({ directory, manifest }: BuiltWorker): string | undefined {
  return manifest.assets === null ? undefined : join(directory, manifest.assets.directory);
}

/**
 * The program workerd, which this package has as an optional dependency. Its module knows the path for this system, also where
 * npm did not run its installation script.
 *
 * @throws CliError
 */
export function findWorkerd(): string {
  try {
    const module = createRequire(import.meta.url)("workerd") as { default: string };
    return module.default;
  } catch (error) {
    throw new CliError(
      `The package workerd, which runs the Worker, cannot be loaded: npm leaves it out with --omit=optional, and on systems that it does not exist for. Install it: npm install workerd (${(error as Error).message})`,
      { code: "no_workerd" },
    );
  }
}
