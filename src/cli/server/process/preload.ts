import { extname, join } from "node:path";

/**
 * The file of a module, in TypeScript or compiled.
 *
 * @param name the name of the file without the ending, from this folder
 */
export function moduleNextTo(name: string): string {
  return join(import.meta.dirname, `${name}${extname(import.meta.filename)}`);
}

/** Arguments of Node that load a module before the program. */
export function preload(name: string): string[] {
  return ["--import", moduleNextTo(name)];
}

/** Arguments of Node for the leader of a process group that must end when this process is killed. */
export function endWithParent(): string[] {
  return preload("end-with-parent");
}
