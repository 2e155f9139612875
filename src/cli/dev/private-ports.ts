import childProcess, { type ChildProcess, type SpawnOptions } from "node:child_process";
import { rmSync } from "node:fs";
import { Server } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough, type Readable } from "node:stream";

/** The file descriptor on which workerd reports its sockets to miniflare. */
const CONTROL = 3;

/** The port that is reported to miniflare for a Unix socket. Nothing connects to it. */
const NO_PORT = 1;

export interface PrivatePortsOptions {
  /** The directory of the sockets, which no other user may open. */
  directory: string;
  /** The port of the Worker's inspector; without it, the inspector is off. workerd does not start with one on a Unix socket. */
  inspect?: number;
  /** The servers of this process that listen on a Unix socket. Default: all. With it, the Worker keeps its port. */
  only?: (server: Server) => boolean;
}

/**
 * True once wrangler may start a workerd that is not the Worker's. It may not before its proxy, which is one, was replaced.
 */
export const others = { allowed: false };

/**
 * Makes the HTTP servers of this process, and the workerd that it starts, listen on Unix sockets instead of ports. The ports
 * of miniflare check neither Origin nor Host: any page in a browser could read the Worker's secrets and run code in it.
 *
 * @param crashed called when the workerd of the Worker has ended and miniflare did not end it
 */
export function listenPrivately(
  options: PrivatePortsOptions,
  crashed: () => void = () => undefined,
): void {
  const { directory, only } = options;
  let servers = 0;
  const pathOf = (port: number): string => join(directory, `node-${port}`);
  // A socket that a killed process left behind cannot be reused.
  const freed = (path: string): string => {
    rmSync(path, { force: true });
    return path;
  };
  // The method of the base class, which this one overrides.
  const { listen } = Object.getPrototypeOf(Server.prototype) as Pick<Server, "listen">;
  Server.prototype.listen = function listenOnSocket(this: Server, ...args: unknown[]): Server {
    if (only?.(this) === false) return Reflect.apply(listen, this, args);
    const port = ++servers;
    const callback = args.find((one) => typeof one === "function") as (() => void) | undefined;
    this.address = () => ({ address: "127.0.0.1", family: "IPv4", port });
    return Reflect.apply(listen, this, [freed(pathOf(port)), callback]);
  };

  const { spawn } = childProcess;
  const spawnPrivately = (command: string, args: string[], rest: SpawnOptions): ChildProcess => {
    if (!isWorkerd(args)) return spawn(command, args, rest);
    if (!isWorker(args) && !only && !others.allowed) throw new Error("wrangler would open a port");
    const child = spawn(command, workerdArguments(args, options, pathOf, freed), rest);
    if (isWorker(args)) child.once("exit", () => child.killed || crashed());
    const control = child.stdio[CONTROL] as Readable;
    Object.assign(child.stdio, { [CONTROL]: withPorts(control) });
    return child;
  };
  Object.assign(childProcess, { spawn: spawnPrivately });
}

function isWorkerd(args: unknown): args is string[] {
  return Array.isArray(args) && args.includes(`--control-fd=${CONTROL}`);
}

/**
 * True for the workerd of the Worker. Wrangler starts another one for bindings whose requests go to Cloudflare; the
 * Worker connects to its port.
 */
function isWorker(args: readonly string[]): boolean {
  return args.some((argument) => argument.startsWith("--inspector-addr="));
}

function workerdArguments(
  args: readonly string[],
  { directory, inspect }: PrivatePortsOptions,
  pathOf: (port: number) => string,
  freed: (path: string) => string,
): string[] {
  const worker = isWorker(args);
  return args.flatMap((argument) => {
    const [, option, name, port] =
      /^(--socket-addr|--external-addr)=([^=]+)=.*:(\d+)$/.exec(argument) ?? [];
    if (option === "--external-addr") return `${option}=${name}=unix:${pathOf(Number(port))}`;
    if (!worker) return argument;
    if (option !== undefined) return `${option}=${name}=unix:${freed(join(directory, name ?? ""))}`;
    if (!argument.startsWith("--inspector-addr=")) return argument;
    return inspect === undefined ? [] : `--inspector-addr=127.0.0.1:${inspect}`;
  });
}

/** Workerd's messages, rewritten as if every socket that miniflare asked for listened on a port. */
function withPorts(control: Readable): Readable {
  const messages = new PassThrough();
  const write = (message: object): void => void messages.write(`${JSON.stringify(message)}\n`);
  write({ event: "listen-inspector", port: NO_PORT });
  createInterface({ input: control })
    .on("line", (line) => {
      const message = JSON.parse(line) as { port?: number };
      write(message.port === 0 ? { ...message, port: NO_PORT } : message);
    })
    .on("close", () => messages.end());
  return messages;
}
