import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenPrivately } from "#cli/dev/private-ports.ts";

let isPrivate = false;

/**
 * From now on miniflare's own servers in this process listen on Unix sockets, where no page in a browser reaches them. The Workers
 * that tests start keep their ports, which browsers and other processes use; they refuse foreign pages.
 */
export function keepMiniflarePrivate(): void {
  if (isPrivate) return;
  isPrivate = true;
  const directory = mkdtempSync(join(tmpdir(), "troupe-"));
  process.on("exit", () => rmSync(directory, { recursive: true, force: true }));
  // Only miniflare's servers have this method, of all that tests start.
  listenPrivately({ directory, only: (server) => "stop" in server });
}
