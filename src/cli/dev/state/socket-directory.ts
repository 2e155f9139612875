import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The longest path of a Unix socket on all systems, less what stands behind the directory. */
const LONGEST = 103 - "troupe-123456/node-999".length;

/**
 * A new directory for Unix sockets, which other users cannot open. Not below the state: paths of sockets are short, and not
 * every file system has sockets.
 */
export function socketDirectory(): string {
  const temporary = tmpdir();
  return mkdtempSync(join(temporary.length <= LONGEST ? temporary : "/tmp", "troupe-"));
}
