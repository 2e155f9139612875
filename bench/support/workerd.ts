import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { WORKERD } from "../../test/support/workerd-config.ts";
import type { Bundle } from "./bundle.ts";
import { end, endWithUs } from "./child.ts";
import { cpuMilliseconds, residentBytes } from "./process.ts";

/** A running workerd with a state of its own. */
export interface Workerd extends AsyncDisposable {
  origin: string;
  /** Bytes of memory that the process holds. */
  memory(): number;
  /** Milliseconds of CPU it has used, all threads. */
  cpu(): number;
}

/** Starts the real runtime, over the storage it has in development: SQLite files on disk. */
export async function startWorkerd({ directory, config }: Bundle): Promise<Workerd> {
  const state = join(directory, "state");
  mkdirSync(state, { recursive: true });
  const child = endWithUs(
    spawn(
      WORKERD,
      [
        "serve",
        "--binary",
        "--experimental",
        "--control-fd=3",
        `--directory-path=state=${state}`,
        config,
      ],
      { stdio: ["ignore", "inherit", "inherit", "pipe"] },
    ),
  );
  const port = await new Promise<string>((resolvePort, reject) => {
    child.once("exit", (code) => reject(new Error(`workerd ended with ${String(code)}`)));
    (child.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
      const found = /"event":"listen".*"port":(\d+)/.exec(text)?.[1];
      if (found !== undefined) resolvePort(found);
    });
  });
  return {
    origin: `http://127.0.0.1:${port}`,
    memory: () => residentBytes(child.pid ?? 0),
    cpu: () => cpuMilliseconds(child.pid ?? 0),
    [Symbol.asyncDispose]: async () => {
      await end(child);
      rmSync(state, { recursive: true, force: true });
    },
  };
}
