import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/**
 * Above those that `fetch` refuses, and below those that `npm start` chooses by itself and that systems give to whoever asks
 * for any.
 */
const FIRST_PORT = 11_000;
const LAST_PORT = 19_999;

/** Has a file for each port that a process of tests uses, with the process's id: stages of tests run at the same time. */
const claims = join(tmpdir(), `troupe-test-ports-${userInfo().uid}`);
const claimed: string[] = [];
process.on("exit", () => claimed.forEach((file) => rmSync(file, { force: true })));

/** A free port, which no other test gets before this process ends. */
export async function freePort(): Promise<number> {
  mkdirSync(claims, { recursive: true });
  for (let port = FIRST_PORT; port <= LAST_PORT; port++) {
    if (claim(port) && (await isFree(port))) return port;
  }
  throw new Error(`no port from ${FIRST_PORT} to ${LAST_PORT} is free: see ${claims}`);
}

/** Whether the port is free. */
export async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((answer) => {
    probe.once("error", () => answer(false));
    probe.listen({ host: "127.0.0.1", port }, () => probe.close(() => answer(true)));
  });
}

function claim(port: number): boolean {
  const file = join(claims, String(port));
  try {
    writeFileSync(file, String(process.pid), { flag: "wx" });
    claimed.push(file);
    return true;
  } catch {
    removeAbandoned(file);
    return false;
  }
}

/** A process that was killed leaves its claims. They are free for the next one that asks. */
function removeAbandoned(file: string): void {
  try {
    process.kill(Number(readFileSync(file, "utf8")), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") rmSync(file, { force: true });
  }
}
