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
  /** The inspector's origin; undefined where it was not wanted. */
  inspector: string | undefined;
  /** Bytes of memory that the process holds. */
  memory(): number;
  /** Milliseconds of CPU it has used, all threads. */
  cpu(): number;
}

/** Starts the real runtime, over the storage it has in development: SQLite files on disk. */
export async function startWorkerd(
  { directory, config }: Bundle,
  { inspected = false } = {},
): Promise<Workerd> {
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
        ...(inspected ? ["--inspector-addr=127.0.0.1:0"] : []),
        config,
      ],
      { stdio: ["ignore", "inherit", "inherit", "pipe"] },
    ),
  );
  const [port, inspector] = await new Promise<[port: string, inspector?: string]>(
    (resolvePorts, reject) => {
      child.once("exit", (code) => reject(new Error(`workerd ended with ${String(code)}`)));
      let said = "";
      (child.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
        said += text;
        const inspects = /"event":"listen-inspector".*?"port":(\d+)/.exec(said)?.[1];
        const listens = /"event":"listen","socket".*?"port":(\d+)/.exec(said)?.[1];
        if (listens === undefined || (inspected && inspects === undefined)) return;
        resolvePorts(inspects === undefined ? [listens] : [listens, inspects]);
      });
    },
  );
  return {
    origin: `http://127.0.0.1:${port}`,
    inspector: inspector && `http://127.0.0.1:${inspector}`,
    memory: () => residentBytes(child.pid ?? 0),
    cpu: () => cpuMilliseconds(child.pid ?? 0),
    [Symbol.asyncDispose]: async () => {
      await end(child);
      rmSync(state, { recursive: true, force: true });
    },
  };
}
