import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";

/** Removes a directory with everything in it; also one so deep that its paths are too long for the system's calls. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENAMETOOLONG") throw error;
    // The program changes into each directory; Node has no such calls.
    await promisify(execFile)("rm", ["-rf", "--", path]);
  }
}
