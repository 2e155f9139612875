import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** A version of which objects exist that this one must read. */
const COMMIT = "f983b9c5";

/** The packages that the Worker itself has, as the earlier version locks them. */
const INSTALL = ["ci", "--omit=dev", "--omit=peer", "--omit=optional", "--ignore-scripts"];

/**
 * Builds the Worker of an earlier version with its own packages, and with the tools of this one.
 *
 * @param environment names of the bindings whose values are in the environment of the process
 * @returns its configuration for workerd; undefined where git does not have that version, as in a shallow clone
 */
export async function configOfEarlierVersion(
  scratch: string,
  environment: readonly string[],
): Promise<string | undefined> {
  const known = await run("git", ["cat-file", "-e", COMMIT], { cwd: ROOT }).catch(() => undefined);
  if (known === undefined) return undefined;
  const directory = join(scratch, "earlier-version");
  const archive = join(scratch, "earlier-version.tar");
  mkdirSync(directory);
  await run("git", ["archive", "--output", archive, COMMIT], { cwd: ROOT });
  await run("tar", ["-xf", archive, "-C", directory]);
  await run("npm", [...INSTALL, "--no-audit", "--no-fund", "--loglevel=error"], { cwd: directory });
  // Beside the directory, where packages are found that it does not have itself; it looks for the program only in its own.
  symlinkSync(join(ROOT, "node_modules"), join(scratch, "node_modules"));
  const program = join("node_modules", ".bin", "workerd");
  symlinkSync(join(ROOT, program), join(directory, program));
  const builds = join(scratch, "earlier-builds");
  mkdirSync(builds, { recursive: true });
  const code = `
    import { configOfWorker } from "./test/support/workerd-config.ts";
    console.log(await configOfWorker(${JSON.stringify(environment)}));
  `;
  const args = ["--input-type=module-typescript", "--eval", code];
  const env = { ...process.env, TROUPE_TEST_BUILDS: builds };
  const { stdout } = await run(process.execPath, args, { cwd: directory, env });
  return stdout.trim().split("\n").at(-1);
}
