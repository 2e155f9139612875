import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Goal } from "../support/report.ts";
import { median } from "../support/statistics.ts";
import type { Product } from "./product.ts";
import { TroupeServer } from "./troupe-server.ts";

const MB = 1e6;

export interface BarOptions {
  /** Starts of which the median counts, after the first. */
  starts: number;
  /** So long the server has nothing to do before its memory is read. */
  idleMs: number;
}

/** The time of a start of a server that has started before, and its memory at rest. The sandbox is not among its processes. */
export async function measureBars(
  product: Product,
  directory: string,
  upstream: string,
  { starts, idleMs }: BarOptions,
): Promise<Goal[]> {
  const state = join(directory, "bars");
  const times: number[] = [];
  let memory = 0;
  for (let start = 0; start <= starts; start++) {
    await using server = await TroupeServer.start(product, state, upstream);
    if (start > 0) times.push(server.process.startMs / 1000);
    if (start < starts) continue;
    await sleep(idleMs);
    memory = server.process.memory() / MB;
  }
  rmSync(state, { recursive: true, force: true });
  return [
    {
      what: "second start to the first 200 of /healthz",
      value: median(times),
      unit: "s",
      limit: { atMost: 3 },
    },
    {
      what: `all processes of troupe serve, resident after ${idleMs / 1000} s`,
      value: memory,
      unit: "MB",
      limit: { atMost: 250 },
    },
  ];
}
