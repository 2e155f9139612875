import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { endWithUs } from "../support/child.ts";

/** Requests that another process sends. */
export interface Flood {
  /** Stops it. Resolves to how often each status was answered. */
  end(): Promise<Record<string, number>>;
}

/** Sends GET requests at a steady rate from a process of its own, which leaves the processor to others that want it. */
export function flood(url: string, credential: string, perSecond: number): Flood {
  const program = join(import.meta.dirname, "flooder.ts");
  const child = endWithUs(
    spawn("nice", [process.execPath, program, url, credential, String(perSecond)], {
      stdio: ["ignore", "pipe", "inherit"],
    }),
  );
  return {
    async end() {
      child.kill("SIGTERM");
      const [printed] = await Promise.all([text(child.stdout), once(child, "exit")]);
      return JSON.parse(printed) as Record<string, number>;
    },
  };
}
