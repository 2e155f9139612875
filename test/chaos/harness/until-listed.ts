import { setTimeout as sleep } from "node:timers/promises";
import type { DiskView } from "./database.ts";

const POLL_MS = 8;

/**
 * Waits until the tenant lists what the team has stored, and the team's alarm is gone.
 *
 * @param late whether it has taken too long
 * @returns the problems found
 */
export async function untilListed(disk: DiskView, late: () => boolean): Promise<string[]> {
  for (;;) {
    const [truth, listed, alarm] = [
      JSON.stringify(disk.truth()),
      JSON.stringify(disk.listed()),
      disk.alarmSet(),
    ];
    if (truth !== undefined && truth === listed && !alarm) return [];
    if (late()) {
      const what = `the team has stored ${truth}, the tenant lists ${listed}`;
      return [alarm ? `an alarm is set after the end; ${what}` : what];
    }
    await sleep(POLL_MS);
  }
}
