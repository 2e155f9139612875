import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { BlockLimits } from "../runner.ts";

/**
 * Whether a directory exceeds the limits of a workspace. Used while code runs, so entries may change or disappear meanwhile.
 */
export async function exceedsLimits(
  directory: string,
  { workspaceBytes, workspaceFiles }: BlockLimits,
): Promise<boolean> {
  const directories = [directory];
  let files = 0;
  let bytes = 0;
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name);
      files++;
      if (entry.isDirectory()) directories.push(path);
      else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0;
      if (files > workspaceFiles || bytes > workspaceBytes) return true;
    }
  }
  return false;
}
