import { createHash, randomBytes, randomUUID } from "node:crypto";
import { chmod, mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Isolation, Runner } from "../runner.ts";
import { Cgroups } from "./cgroups.ts";
import { codePath } from "./code-path.ts";
import { findInterpreters, type Interpreter } from "./languages.ts";
import { writeSystemCallFilter } from "./system-calls.ts";
import type { Python } from "./python.ts";
import { killLeftOver } from "./process-owner.ts";
import { removeTree } from "./remove-tree.ts";
import { ProcessRunner } from "./runner.ts";
import type { Strictness, Wall } from "../setting.ts";
import { SettingsError } from "../settings.ts";
import { Walls } from "./walls.ts";

export interface ProcessIsolationOptions {
  /** The data directory of the service, which no other service uses. */
  data: string;
  maxProcesses: number;
  firstUid: number;
  /** Whether code may use the network. */
  network: boolean;
  /** Directories that code may read behind namespaces, besides those of the system. */
  readable: readonly string[];
  /** What happens without walls. */
  strict: Strictness;
  /** The `PATH` of the service: interpreters, and the programs that code starts, are found there. */
  path: string;
  /** Runs Python in place of the interpreter in the path. */
  python?: Python | undefined;
}

/** The number of users, and so of runners at the same time. With the default of `firstUid`, systemd assigns none of them. */
const USERS = 400;

/** Runs blocks as processes, which the container of the service isolates. */
export class ProcessIsolation implements Isolation {
  readonly name = "process";
  readonly hasOutsideEffects = true;
  languages: readonly Interpreter[] = [];
  missing: readonly string[] = [];
  readonly #options: ProcessIsolationOptions;
  readonly #name: string;
  readonly #scratch: string;
  /** Users to run code as; none unless the service is root. */
  readonly #uids: readonly number[];
  /** Unused users. A freed user goes to the end: its killed processes count against its limits for a while. */
  readonly #free: number[];
  readonly #path: string;
  readonly #runners = new Set<Runner>();
  #walls: Walls | undefined;
  #cgroups: Cgroups | undefined;
  /** The file with the filter of system calls. */
  #filter: string | undefined;

  constructor(options: ProcessIsolationOptions) {
    this.#options = options;
    this.#name = createHash("sha256").update(options.data).digest("hex").slice(0, 8);
    // Unlike the data directory, this one must be accessible to the users that run code.
    this.#scratch = join(tmpdir(), `troupe-sandbox-${this.#name}`);
    this.#uids = process.getuid?.() === 0 ? range(options.firstUid, USERS) : [];
    this.#free = [...this.#uids];
    // Shells find the programs of the environment, too.
    const python = options.python === undefined ? [] : [dirname(options.python.program)];
    this.#path = [...python, ...codePath(options.path)].join(delimiter);
  }

  /** @throws SettingsError without a wall that is required */
  async start(): Promise<void> {
    this.languages = await findInterpreters(this.#path, this.#options.python?.program);
    // Left by a service that was killed.
    await killLeftOver(this.#name, this.#uids);
    const walls = await this.#findWalls();
    if (typeof walls === "string") this.#lacks("namespaces", walls);
    else this.#walls = walls;
    const cgroups = await Cgroups.find(this.#name);
    if (typeof cgroups === "string") this.#lacks("cgroups", cgroups);
    else this.#cgroups = cgroups;
    await removeTree(this.#scratch);
    await mkdir(this.#scratch);
    await chmod(this.#scratch, 0o711);
    const filter = join(this.#scratch, "system-calls.bpf");
    if (await writeSystemCallFilter(filter)) this.#filter = filter;
  }

  get walls(): readonly Wall[] {
    return [
      ...(this.#walls ? (["namespaces"] as const) : []),
      ...(this.#cgroups ? (["cgroups"] as const) : []),
    ];
  }

  /** Whether what it runs has a network. */
  get network(): boolean {
    return this.#walls === undefined || this.#options.network;
  }

  /** @param maxProcesses the limit of its processes, and of their threads */
  async runner(maxProcesses = this.#options.maxProcesses): Promise<ProcessRunner> {
    const uid = this.#user();
    const owner = { marker: `${this.#name}-${randomUUID()}`, ...(uid !== undefined && { uid }) };
    const runner = await ProcessRunner.create({
      // Short: programs make sockets in it, whose paths have at most a hundred characters.
      directory: join(this.#scratch, randomBytes(4).toString("hex")),
      owner,
      interpreters: this.languages,
      maxProcesses,
      path: this.#path,
      ...(this.#walls && { walls: this.#walls }),
      ...(this.#filter !== undefined && { filter: this.#filter }),
      ...(this.#cgroups && { cgroup: await this.#cgroups.create(owner.marker, maxProcesses) }),
      onClose: () => {
        // A runner may be closed more than once.
        if (this.#runners.delete(runner) && uid !== undefined) this.#free.push(uid);
      },
    });
    this.#runners.add(runner);
    return runner;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runners].map((runner) => runner.close()));
    await removeTree(this.#scratch);
  }

  #findWalls(): Promise<Walls | string> {
    const programs = this.languages.flatMap(({ command }) => command.slice(0, 1));
    const { network, strict, python } = this.#options;
    const path = this.#path.split(delimiter);
    const readable = [...this.#options.readable, ...(python?.folders ?? [])];
    return Walls.find({ path, programs, network, readable }, this.#uids[0], strict.mayFall);
  }

  #lacks(wall: Wall, reason: string): void {
    const { required } = this.#options.strict;
    if (required.includes(wall))
      throw new SettingsError(
        `SANDBOX_ISOLATION_STRICT demands ${required.join(" and ")}, and this machine lacks ${wall}: ${reason}`,
      );
    this.missing = [...this.missing, `${wall}: ${reason}`];
  }

  /** Takes an unused user. */
  #user(): number | undefined {
    if (this.#uids.length === 0) return undefined;
    const uid = this.#free.shift();
    if (uid === undefined) throw new Error(`All ${USERS} users that run code are in use.`);
    return uid;
  }
}

function range(first: number, length: number): number[] {
  return Array.from({ length }, (_, index) => first + index);
}
