import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const ROOT = resolve(import.meta.dirname, "../../..");
const run = promisify(execFile);

/** A version of which objects exist that this one must read. */
const COMMIT = "f983b9c5";

/**
 * Builds the Worker of an earlier version, with the packages of this one.
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
  if (!existsSync(directory)) {
    mkdirSync(directory);
    const archive = join(scratch, "earlier-version.tar");
    await run("git", ["archive", "--output", archive, COMMIT], { cwd: ROOT });
    await run("tar", ["-xf", archive, "-C", directory]);
    symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  }
  const builds = join(scratch, "earlier-builds");
  mkdirSync(builds, { recursive: true });
  const program = `
    import { configOfWorker } from "./test/support/workerd-config.ts";
    console.log(await configOfWorker(${JSON.stringify(environment)}));
  `;
  const args = ["--input-type=module-typescript", "--eval", program];
  const env = { ...process.env, TROUPE_TEST_BUILDS: builds };
  const { stdout } = await run(process.execPath, args, { cwd: directory, env });
  return stdout.trim().split("\n").at(-1);
}
