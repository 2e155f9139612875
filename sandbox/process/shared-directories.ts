import { lstat, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeTree } from "./remove-tree.ts";

/** Directories where all users may write, but replace only their own files. */
const SHARED = [...new Set([tmpdir(), "/tmp", "/var/tmp", "/dev/shm"])];

/** Removes a user's files from shared directories, so that the next session with this user does not find them. */
export async function removeLeftFiles(uid: number): Promise<void> {
  for (const directory of SHARED) {
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      const owner = (await lstat(path).catch(() => undefined))?.uid;
      if (owner === uid) await removeTree(path);
    }
  }
}
