import { accessSync, constants, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The longest path of a Unix socket that works on all systems, minus the part after the directory. */
const LONGEST = 103 - "troupe-123456/node-999".length;

/** The usual temporary directories of different systems. */
const USUAL = ["/tmp", "/var/tmp", "/dev/shm"];

/**
 * Makes this process and its children use a writable temporary directory: TMPDIR may name one that does not exist, and a
 * container may have no /tmp.
 *
 * @throws Error when no such directory exists
 */
export function useWritableTemporaryDirectory(): void {
  if (isWritable(tmpdir())) return;
  const writable = USUAL.find(isWritable);
  if (writable === undefined) {
    throw new Error(
      `No temporary directory is writable: tried ${[tmpdir(), ...USUAL].join(", ")}. Set TMPDIR to a writable one.`,
    );
  }
  process.env["TMPDIR"] = writable;
}

/**
 * A new directory for Unix sockets, which other users cannot open. It is not below the state, because paths of sockets must be
 * short and some file systems have no sockets.
 *
 * @throws Error when there is no directory with a short path
 */
export function socketDirectory(): string {
  const short = [tmpdir(), ...USUAL].find((path) => path.length <= LONGEST && isWritable(path));
  if (short !== undefined) return mkdtempSync(join(short, "troupe-"));
  throw new Error(
    `TMPDIR is ${tmpdir()}, which is too long for the paths of sockets. It may have at most ${LONGEST} characters.`,
  );
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
