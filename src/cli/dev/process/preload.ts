import { extname, join } from "node:path";

/**
 * Arguments of Node that load a module of this folder's parent before the program, as TypeScript or as it was compiled.
 *
 * @param name of its file without the ending, from this folder
 */
export function preload(name: string): string[] {
  return ["--import", join(import.meta.dirname, `${name}${extname(import.meta.filename)}`)];
}

/** Arguments of Node for the leader of a process group that is to end when this process was killed. */
export function endWithParent(): string[] {
  return preload("end-with-parent");
}
