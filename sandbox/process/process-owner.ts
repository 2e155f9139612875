import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";

/** Identifies the processes of a runner, so that all of them can be found. */
export interface ProcessOwner {
  /** The user of the runner, if the service is root. */
  uid?: number;
  /** In the environment of the processes. Does not find a process that clears its environment and leaves its group. */
  marker: string;
}

/** The name of the marker in the environment. */
export const MARKER = "SANDBOX_RUNNER";

const MAX_ROUNDS = 20;

/** Kills processes that a killed service left, by their users or by the prefix of their markers. */
export async function killLeftOver(service: string, uids: readonly number[]): Promise<void> {
  const ours = new Set(uids);
  for (const pid of await allPids()) {
    const left =
      ours.size > 0
        ? ours.has((await userOf(pid)) ?? -1)
        : (await markerOf(pid))?.startsWith(service) === true;
    if (left) kill(pid);
  }
}

/** Kills all processes of an owner and of a process group. False when some survive. */
export async function killAll(owner: ProcessOwner, group?: number): Promise<boolean> {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (group !== undefined) kill(-group);
    if (owner.uid === undefined) for (const pid of await pidsOf(owner)) kill(pid);
    else await killUser(owner.uid);
    if ((await pidsOf(owner)).length === 0) return true;
    await new Promise((resolve) => setTimeout(resolve, 10 * round));
  }
  return false;
}

/** The live processes of an owner. None without /proc. */
export async function pidsOf(owner: ProcessOwner): Promise<number[]> {
  const pids = await allPids();
  const owned = await Promise.all(pids.map((pid) => belongs(pid, owner)));
  return pids.filter((_, index) => owned[index]);
}

async function allPids(): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

async function belongs(pid: number, { uid, marker }: ProcessOwner): Promise<boolean> {
  if (uid === undefined) return (await markerOf(pid)) === marker;
  if ((await userOf(pid)) !== uid) return false;
  return !/^State:\s*[ZX]/m.test(await statusOf(pid));
}

async function userOf(pid: number): Promise<number | undefined> {
  return (await stat(`/proc/${pid}`).catch(() => undefined))?.uid;
}

export function statusOf(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/status`, "utf8").catch(() => "State: X");
}

/** The marker in the initial environment of a process, if it is readable. */
async function markerOf(pid: number): Promise<string | undefined> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  const found = environment.split("\0").find((variable) => variable.startsWith(`${MARKER}=`));
  return found?.slice(MARKER.length + 1);
}

/** Kills all processes of a user at once, so that none can fork in between. */
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
    // It has ended already.
  }
}
