import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/**
 * Leaves alone what is there already: another server may be reading it, and its wrangler watches it.
 *
 * @param {string} directory
 * @param {Map<string, Uint8Array>} files all it is to hold, by absolute path
 */
export async function replaceFiles(directory, files) {
  for (const [path, contents] of files) await replaceFile(path, contents);
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const old = entry.isFile() && !entry.name.startsWith(".") && !files.has(path);
    if (old) await rm(path, { force: true });
  }
}

/** @param {string} path @param {Uint8Array} contents */
export async function replaceFile(path, contents) {
  if (existsSync(path) && (await readFile(path)).equals(contents)) return;
  await mkdir(dirname(path), { recursive: true });
  const whole = join(dirname(path), `.${basename(path)}.${process.pid}`);
  await writeFile(whole, contents);
  await rename(whole, path);
}
