// Packs a copy of the clone: while npm packs, package.json is another, which what runs in the clone must not see.

import { execFile } from "node:child_process";
import { cp, readdir, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

const root = resolve(import.meta.dirname, "../..");
/** What the copy lacks: what is linked, or not in the repository. */
const LEFT_OUT = new Set([
  "node_modules",
  ".git",
  ".troupe",
  ".wrangler",
  "coverage",
  "dist",
  "lib",
]);

/** The peers of the benchmarks, with hundreds of megabytes of packages of their own. */
const PEERS = join(root, "bench/peers");

/**
 * @param {string} directory an empty one, which gets the tarball
 * @param {NodeJS.ProcessEnv} [environment] what npm gets besides this process's
 * @returns {Promise<{ tarball: string, files: number }>} its path, and how many files it has
 */
export async function packCopy(directory, environment = {}) {
  const copy = join(directory, "clone");
  for (const part of await readdir(root)) {
    if (LEFT_OUT.has(part)) continue;
    const filter = (/** @type {string} */ path) => path !== PEERS;
    await cp(join(root, part), join(copy, part), { recursive: true, filter });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--json", "--loglevel=error", "--pack-destination", directory],
    { cwd: copy, maxBuffer: 10_000_000, env: { ...process.env, ...environment } },
  );
  const files = /"entryCount": (\d+)/.exec(stdout)?.[1];
  const name = (await readdir(directory)).find((file) => file.endsWith(".tgz"));
  if (name === undefined) throw new Error(`npm pack made no tarball: ${stdout}`);
  return { tarball: join(directory, name), files: Number(files) };
}
