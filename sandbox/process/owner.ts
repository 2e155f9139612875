import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";

/** Whom the processes of a runner belong to, so that all of them are found again. */
export interface Owner {
  /** A user of its own, where the service may change users. */
  uid?: number;
  /** In the environment of its processes; what clears its environment and leaves its group is not found by this. */
  marker: string;
}

/** The name of the marker in the environment. */
export const MARKER = "SANDBOX_RUNNER";

const MOST_ROUNDS = 20;

/** Kills all processes of an owner and of a process group. False when some are still there. */
export async function killAll(owner: Owner, group?: number): Promise<boolean> {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (group !== undefined) kill(-group);
    if (owner.uid === undefined) for (const pid of await pidsOf(owner)) kill(pid);
    else await killUser(owner.uid);
    if ((await pidsOf(owner)).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 10 * round));
  }
  return false;
}

/** Resident memory of all processes of an owner, in bytes. */
export async function memoryOf(owner: Owner): Promise<number> {
  const sizes = await Promise.all(
    (await pidsOf(owner)).map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
      return Number(/^VmRSS:\s*(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The processes of an owner that have not ended. None where there is no /proc. */
async function pidsOf(owner: Owner): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const owned = await Promise.all(pids.map((pid) => belongs(pid, owner).catch(() => false)));
  return pids.filter((_, index) => owned[index]);
}

async function belongs(pid: number, { uid, marker }: Owner): Promise<boolean> {
  if (uid !== undefined) {
    if ((await stat(`/proc/${pid}`)).uid !== uid) return false;
    return !/^State:\s*[ZX]/m.test(await readFile(`/proc/${pid}/status`, "utf8"));
  }
  return (await readFile(`/proc/${pid}/environ`, "latin1"))
    .split("\0")
    .includes(`${MARKER}=${marker}`);
}

/** All at once, so that none can start another in between. */
async function killUser(uid: number): Promise<void> {
  const killer = spawn("/bin/sh", ["-c", "kill -9 -1"], {
    uid,
    gid: uid,
    stdio: "ignore",
    cwd: "/",
    env: {},
  });
  await once(killer, "close");
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}
