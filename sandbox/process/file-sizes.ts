import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** How much is on a disk. */
export interface FileSizes {
  bytes: number;
  /** Files, directories and links. */
  files: number;
}

/** Blocks of `stat`. */
const BLOCK_BYTES = 512;

/** What a file takes: its size, or what is reserved for it beyond its size. */
export function bytesOf({ size, blocks }: { size: number; blocks: number }): number {
  return Math.max(size, blocks * BLOCK_BYTES);
}

/**
 * The files below a directory. Counting ends where there are more than `most`. Used while code runs, so entries may change or
 * disappear meanwhile.
 */
export async function sizesBelow(directory: string, most: FileSizes): Promise<FileSizes> {
  const directories = [directory];
  const sizes = { bytes: 0, files: 0 };
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name);
      sizes.files++;
      if (entry.isDirectory()) directories.push(path);
      else sizes.bytes += await sizeOf(path);
      if (isMore(sizes, most)) return sizes;
    }
  }
  return sizes;
}

export function isMore(sizes: FileSizes, most: FileSizes): boolean {
  return sizes.bytes > most.bytes || sizes.files > most.files;
}

async function sizeOf(path: string): Promise<number> {
  const stats = await lstat(path).catch(() => undefined);
  return stats === undefined ? 0 : bytesOf(stats);
}
