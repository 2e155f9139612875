import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join, posix } from "node:path";
import { setTimeout } from "node:timers/promises";

/** The controllers that limit a runner. */
const CONTROLLERS = ["memory", "pids"] as const;

const MAX_WAIT_MS = 1000;

/** Control groups of version 2, below the one of the service: a group for each runner limits its memory and its processes. */
export class Cgroups {
  readonly #parent: string;

  private constructor(parent: string) {
    this.#parent = parent;
  }

  /**
   * Finds out whether the service may make groups. A group with processes of its own cannot limit groups below it, so the
   * service moves to one below.
   *
   * @param name the service's name, the prefix of its groups
   * @param root the root of the file system
   * @returns the reason when there are no groups here
   */
  static async find(name: string, root = "/"): Promise<Cgroups | string> {
    const parent = groupOfService(root);
    if (parent === undefined) return "the service sees no cgroup of version 2 that it is in";
    try {
      const available = words(await readFile(join(parent, "cgroup.controllers"), "utf8"));
      const lacking = CONTROLLERS.filter((controller) => !available.includes(controller));
      if (lacking.length > 0)
        return `${parent} does not have the controllers ${lacking.join(" and ")}`;
      await removeLeftOver(parent, name);
      await enable(parent, `${name}-service`);
      const groups = new Cgroups(parent);
      const tried = await groups.create(`${name}-try`, 1);
      tried.limitMemory(1_000_000_000);
      await tried.remove();
      return groups;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === "EBUSY")
        return `other processes are in ${parent}: the service needs a cgroup of its own`;
      return `the service may not make groups: ${message}`;
    }
  }

  /** A group for the processes of a runner. */
  async create(name: string, maxProcesses: number): Promise<Cgroup> {
    const directory = join(this.#parent, name);
    await mkdir(directory);
    await writeFile(join(directory, "pids.max"), String(maxProcesses));
    return new Cgroup(directory);
  }
}

/** The group of one runner. */
export class Cgroup {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Limits the memory of all its processes together, in bytes. The kernel ends all of them when they need more. */
  limitMemory(bytes: number): void {
    this.#write("memory.max", bytes);
    this.#write("memory.oom.group", 1);
    // The file is not there when the kernel does not count swap.
    if (existsSync(join(this.#directory, "memory.swap.max"))) this.#write("memory.swap.max", 0);
  }

  /** Moves a process here, at once. */
  add(pid: number): void {
    this.#write("cgroup.procs", pid);
  }

  /** How often the kernel has ended processes because of the memory limit. */
  memoryKills(): number {
    return this.#count("memory.events", "oom_kill");
  }

  /** Removes the group. Processes that were killed may take a moment to leave it; one that survives keeps it. */
  async remove(): Promise<void> {
    for (let wait = 1; this.#count("cgroup.events", "populated") > 0; wait *= 2) {
      if (wait > MAX_WAIT_MS) return;
      await setTimeout(wait);
    }
    await rmdir(this.#directory);
  }

  #count(file: string, name: string): number {
    const text = readFileSync(join(this.#directory, file), "utf8");
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
  }

  #write(file: string, value: number): void {
    writeFileSync(join(this.#directory, file), String(value));
  }
}

/** The directory of the service's group; undefined where that is not visible. */
function groupOfService(root: string): string | undefined {
  const read = (file: string): string => readFileSync(join(root, "proc/self", file), "utf8");
  try {
    const path = /^0::(.*)$/m.exec(read("cgroup"))?.[1];
    const mount = /^\S+ \S+ \S+ (\S+) (\S+) .* - cgroup2 /m.exec(read("mountinfo"));
    const [, mounted = "", at = ""] = mount ?? [];
    // A path with `..` is outside the namespace of the service.
    if (path === undefined || mount === null || mounted.startsWith("/..")) return undefined;
    return join(root, at, posix.relative(mounted, path));
  } catch {
    // No /proc, so this is not Linux.
    return undefined;
  }
}

/** Lets groups below have limits. @throws Error with the code EBUSY when other processes are in the group */
async function enable(parent: string, service: string): Promise<void> {
  const control = join(parent, "cgroup.subtree_control");
  const switchOn = () => writeFile(control, CONTROLLERS.map((one) => `+${one}`).join(" "));
  const enabled = words(await readFile(control, "utf8"));
  if (CONTROLLERS.every((controller) => enabled.includes(controller))) return;
  // The root of all groups may have processes.
  if (!existsSync(join(parent, "cgroup.type"))) return switchOn();
  const processes = words(await readFile(join(parent, "cgroup.procs"), "utf8"));
  // Where the first process is here, all are of the container of the service.
  const movable = processes.includes("1") ? processes : [String(process.pid)];
  const leaf = join(parent, service);
  await mkdir(leaf, { recursive: true });
  const move = async (to: string): Promise<void> => {
    for (const pid of movable) await writeFile(join(to, "cgroup.procs"), pid);
  };
  try {
    await move(leaf);
    await switchOn();
  } catch (error) {
    await move(parent);
    await rmdir(leaf);
    throw error;
  }
}

/** Removes groups of a service that was killed. Those that still have processes stay, without harm. */
async function removeLeftOver(parent: string, name: string): Promise<void> {
  const entries = await readdir(parent, { withFileTypes: true });
  for (const entry of entries)
    if (entry.isDirectory() && entry.name.startsWith(`${name}-`))
      await rmdir(join(parent, entry.name)).catch(() => undefined);
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
