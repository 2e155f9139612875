import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENS = "0A";

/** The TCP ports that a process and its descendants listen on. Linux only. */
export function listeningPorts(pid: number): number[] {
  const sockets = new Map(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .map((line) => line.trim().split(/\s+/))
        .filter((fields) => fields[3] === LISTENS)
        .map((fields) => [fields[9], parseInt(fields[1]?.split(":")[1] ?? "", 16)] as const),
    ),
  );
  const ports = [pid, ...descendants(pid)]
    .flatMap(socketsOf)
    .map((inode) => sockets.get(inode))
    .filter((port) => port !== undefined);
  return [...new Set(ports)];
}

function descendants(pid: number): number[] {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)] as const);
  const below = (parent: number): number[] =>
    parents.flatMap(([child, of]) => (of === parent ? [child, ...below(child)] : []));
  return below(pid);
}

function parentOf(pid: string): number {
  try {
    // The name, in brackets, may have spaces.
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return Number(parent);
  } catch {
    // It has ended.
    return 0;
  }
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`)
      .map((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${fd}`))?.[1])
      .filter((inode) => inode !== undefined);
  } catch {
    return [];
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return "";
  }
}
