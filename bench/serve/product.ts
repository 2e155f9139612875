import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { packCopy } from "../../scripts/package/pack-copy.mjs";

const execute = promisify(execFile);

const PROGRAM = "node_modules/troupe/lib/cli/bin.js";

/** The package as a user has it: packed by npm, and installed from the tarball into a directory outside of the clone. */
export interface Product extends Disposable {
  directory: string;
  /** The program `troupe`. */
  program: string;
}

/**
 * Packs and installs it.
 *
 * @param installed a directory where it is already installed, and stays
 */
export async function installProduct(installed: string | undefined): Promise<Product> {
  if (installed !== undefined) {
    const directory = resolve(installed);
    const program = join(directory, PROGRAM);
    if (!existsSync(program)) throw new Error(`--installed: there is no ${program}.`);
    return { directory, program, [Symbol.dispose]: () => {} };
  }
  const directory = mkdtempSync(join(tmpdir(), "troupe-bench-product-"));
  try {
    console.error("Packs the package and installs it.");
    const { tarball } = await packCopy(directory);
    writeFileSync(join(directory, "package.json"), '{"private":true,"type":"module"}\n');
    const options = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    await execute("npm", ["install", ...options, tarball], { cwd: directory });
    rmSync(join(directory, "clone"), { recursive: true });
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
  return {
    directory,
    program: join(directory, PROGRAM),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}
