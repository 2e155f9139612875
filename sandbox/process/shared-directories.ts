import { lstat, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "./remove-tree.ts";

/** Where any user may write. What is in them cannot be replaced by others than its owner. */
const SHARED = [...new Set([tmpdir(), "/tmp", "/var/tmp", "/dev/shm"])];

/** Removes what a user has left where any user may write, so that whoever is this user next does not find it. */
export async function removeLeftFiles(uid: number): Promise<void> {
  for (const directory of SHARED) {
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      const owner = (await lstat(path).catch(() => undefined))?.uid;
      if (owner === uid) await removeTree(path);
    }
  }
}
