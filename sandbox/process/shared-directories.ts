import { lstat, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bytesOf, type FileSizes, sizesBelow } from "./file-sizes.ts";
import { removeTree } from "./remove-tree.ts";
import { SHARED_MEMORY } from "./walls.ts";

/** Directories where all users may write, but replace only their own files. */
const SHARED = [...new Set([tmpdir(), "/tmp", "/var/tmp", SHARED_MEMORY])];

/** Removes a user's files from shared directories, so that the next session with this user does not find them. */
export async function removeLeftFiles(uid: number): Promise<void> {
  for await (const { path } of entriesOf(uid)) await removeTree(path);
}

/** The files of a user in shared directories. None without one: those of the service's user are also of others. */
export async function leftFiles(uid: number | undefined, most: FileSizes): Promise<FileSizes> {
  const sizes = { bytes: 0, files: 0 };
  if (uid === undefined) return sizes;
  for await (const { path, stats } of entriesOf(uid)) {
    const below = stats.isDirectory() ? await sizesBelow(path, most) : { bytes: 0, files: 0 };
    sizes.files += 1 + below.files;
    sizes.bytes += below.bytes + (stats.isFile() ? bytesOf(stats) : 0);
  }
  return sizes;
}

async function* entriesOf(uid: number) {
  for (const directory of SHARED) {
    for (const name of await readdir(directory).catch(() => [])) {
      const path = join(directory, name);
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.uid === uid) yield { path, stats };
    }
  }
}
