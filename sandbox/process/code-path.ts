import { statSync } from "node:fs";
import { delimiter, dirname, isAbsolute } from "node:path";

const DEFAULT_PATH = ["/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

/**
 * The directories in which code finds programs, those of Node first. As root, code runs as other users, who must be able to run
 * what is in them.
 *
 * @param path the `PATH` of the service
 */
export function codePath(path: string): string[] {
  // Relative directories would be those of the code's workspace.
  const directories = (path || DEFAULT_PATH).split(delimiter).filter(isAbsolute);
  const all = [dirname(process.execPath), ...directories];
  return process.getuid?.() === 0 ? all.filter(isOpen) : all;
}

/** Whether every user can run the programs in a directory. */
function isOpen(directory: string): boolean {
  for (let at = directory; ; at = dirname(at)) {
    const mode = statSync(at, { throwIfNoEntry: false })?.mode ?? 0;
    if ((mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}
