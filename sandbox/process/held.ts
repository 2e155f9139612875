import { readdir, readFile, readlink, stat } from "node:fs/promises";
import { bytesOf } from "./file-sizes.ts";
import { pidsOf, type ProcessOwner, statusOf } from "./process-owner.ts";

/** What processes hold of the machine, in bytes. */
export interface Held {
  /** Resident memory, files in memory and segments of shared memory. */
  memory: number;
  /** Files that have no name any more and exist as long as they are open. */
  nameless: number;
}

/** What the live processes of an owner hold. Files that the service may not look at do not count. */
export async function heldBy(owner: ProcessOwner): Promise<Held> {
  const pids = await pidsOf(owner);
  const resident = await Promise.all(pids.map(residentMemory));
  const open = await openFiles(pids);
  return {
    memory: sum(resident) + open.inMemory + (await segmentsOf(owner)),
    nameless: open.onDisk,
  };
}

async function residentMemory(pid: number): Promise<number> {
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(await statusOf(pid))?.[1] ?? 0) * 1024;
}

async function openFiles(pids: readonly number[]): Promise<{ inMemory: number; onDisk: number }> {
  const seen = new Set<string>();
  const held = { inMemory: 0, onDisk: 0 };
  for (const pid of pids) {
    const directory = `/proc/${pid}/fd`;
    for (const name of await readdir(directory).catch(() => [])) {
      const path = `${directory}/${name}`;
      const target = await readlink(path).catch(() => "");
      if (!target.endsWith(" (deleted)")) continue;
      const stats = await stat(path).catch(() => undefined);
      const id = `${stats?.dev}:${stats?.ino}`;
      if (stats === undefined || !stats.isFile() || stats.nlink > 0 || seen.has(id)) continue;
      seen.add(id);
      if (target.startsWith("/memfd:")) held.inMemory += bytesOf(stats);
      else held.onDisk += bytesOf(stats);
    }
  }
  return held;
}

/**
 * Segments of System V, which outlive processes. Only those of a user of its own can be attributed. Behind walls there are
 * none, because they cannot be made there.
 */
async function segmentsOf({ uid }: ProcessOwner): Promise<number> {
  if (uid === undefined) return 0;
  const text = await readFile("/proc/sysvipc/shm", "utf8").catch(() => "");
  const [head = "", ...lines] = text.split("\n").map((line) => line.trim());
  const columns = head.split(/\s+/);
  const [user, size] = [columns.indexOf("uid"), columns.indexOf("size")];
  return sum(
    lines
      .map((line) => line.split(/\s+/).map(Number))
      .filter((fields) => fields[user] === uid)
      .map((fields) => fields[size] ?? 0),
  );
}

function sum(sizes: readonly number[]): number {
  return sizes.reduce((total, size) => total + size, 0);
}
