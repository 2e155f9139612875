import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { ServerLog } from "./log.ts";
import { endWithParent } from "./preload.ts";
import { groupLives, signalGroup } from "./process-group.ts";

const HOST = "127.0.0.1";
/** With packages it fetches and installs them first. */
const READY_WITHIN_MS = process.env["SANDBOX_PACKAGES"] ? 900_000 : 180_000;
/** After a shorter life it is not restarted at once. */
const SHORT_LIFE_MS = 2_000;
/** Lines of output that are shown when it does not start. */
const LINES_SHOWN = 20;
/** Failures before its first answer after which it is not started again. */
const MAX_FAILURES = 3;

/** A sandbox that runs on this machine for as long as the server does. */
export interface LocalSandbox {
  readonly url: string;
  readonly key: string;
  readonly pid: number | undefined;
  /** True while any of its processes is running. */
  readonly lives: boolean;
  start: () => Promise<void>;
  /** The isolation of code, once the sandbox answers. Prints why it does not. */
  ready: () => Promise<string | undefined>;
  stop: (signal: "SIGTERM" | "SIGKILL") => void;
}

export interface SandboxProcessOptions {
  /** The folder of the service. */
  directory: string;
  /** The directory of its sessions. */
  data: string;
  /** The virtual environment or interpreter that runs Python; undefined for the sandbox's own. */
  python: string | undefined;
  log: ServerLog;
}

/** The sandbox service in a process of its own. When it dies, it is restarted with the same address, key and data. */
export class SandboxProcess implements LocalSandbox {
  /** Its address. */
  url = "";
  readonly key = randomBytes(32).toString("base64url");
  readonly #options: SandboxProcessOptions;
  #port = 0;
  #child: ChildProcess | undefined;
  /** Its output before it was ready. */
  #held: string[] | undefined = [];
  #stopping = false;
  #failures = 0;

  constructor(options: SandboxProcessOptions) {
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws Error when the Python that was named does not run */
  async start(): Promise<void> {
    if (this.#options.python !== undefined) await this.#checkPython();
    this.#port = await freePort(HOST);
    this.url = `http://${HOST}:${this.#port}`;
    this.#spawn();
  }

  /** Resolves to what isolates code when it answers; to undefined, after printing its output, when it does not. */
  async ready(): Promise<string | undefined> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!this.#stopping && this.#failures < MAX_FAILURES && Date.now() < deadline) {
      const isolation = await isolationAt(this.url);
      if (isolation !== undefined) {
        for (const line of this.#held?.filter(isWarning) ?? [])
          this.#options.log.line("warn", `sandbox: ${line}`);
        this.#held = undefined;
        return isolation;
      }
      await sleep(100);
    }
    if (!this.#stopping) {
      const silent = `It has not answered at ${this.url} within ${READY_WITHIN_MS / 1000} s.`;
      const lines = this.#held?.slice(-LINES_SHOWN) ?? [];
      const reason = this.#failures < MAX_FAILURES ? [...lines, silent] : lines;
      this.#options.log.line("error", `The sandbox does not start:\n${reason.join("\n")}`);
      this.stop("SIGTERM");
    }
    return undefined;
  }

  /** On SIGTERM it ends its own processes; SIGKILL kills the whole group. */
  stop(signal: "SIGTERM" | "SIGKILL"): void {
    this.#stopping = true;
    if (this.#child === undefined) return;
    if (signal === "SIGKILL") signalGroup(this.#child, signal);
    else this.#child.kill(signal);
  }

  get lives(): boolean {
    return this.#child !== undefined && groupLives(this.#child);
  }

  async #checkPython(): Promise<void> {
    const { directory, python } = this.#options;
    const program = join(directory, "check-python.ts");
    const env = { ...ownSettings(), ...withPython(python) };
    try {
      await promisify(execFile)(process.execPath, [program], { cwd: join(directory, ".."), env });
    } catch (error) {
      const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
      throw new Error(said === "" ? `${program} does not run.` : said, { cause: error });
    }
  }

  #spawn(): void {
    const { directory, data, log } = this.#options;
    const started = Date.now();
    if (this.#held !== undefined) this.#held = [];
    const child = spawn(process.execPath, [...endWithParent(), join(directory, "main.ts")], {
      cwd: join(directory, ".."),
      // Its own process group, so that the processes it runs code in can be ended with it.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...ownSettings(),
        ...withPython(this.#options.python),
        SANDBOX_HOST: HOST,
        SANDBOX_PORT: String(this.#port),
        SANDBOX_KEY: this.key,
        SANDBOX_DATA: data,
      },
    });
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#held?.push(line));
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (this.#held === undefined) log.line("error", `sandbox: ${line}`);
      else this.#held.push(line);
    });
    child.on("error", (error) => void this.#ended(started, error.message));
    // Not "close": its children may outlive it and keep its output open.
    child.on("exit", (code, signal) => void this.#ended(started, signal ?? `exit code ${code}`));
  }

  async #ended(started: number, how: string): Promise<void> {
    // When it was killed, the processes that ran code are still there.
    if (this.#child !== undefined) signalGroup(this.#child, "SIGKILL");
    if (this.#stopping) return;
    this.#failures++;
    if (this.#held === undefined) {
      this.#options.log.line("error", `The sandbox ended (${how}) and is restarted.`);
    } else {
      this.#held.push(`It ended: ${how}.`);
      // Another start would clear the output that says why.
      if (this.#failures >= MAX_FAILURES) return;
    }
    if (Date.now() - started < SHORT_LIFE_MS) await sleep(1_000);
    if (!this.#stopping) this.#spawn();
  }
}

/** The settings by which a Python runs code. The operator of this machine names it, so no container is asked for. */
function withPython(python: string | undefined): NodeJS.ProcessEnv {
  if (python === undefined) return {};
  if (process.env["SANDBOX_ISOLATION"] === "wasm") {
    throw new Error(
      "--python runs code as processes, and SANDBOX_ISOLATION is wasm: remove one of the two.",
    );
  }
  return {
    SANDBOX_ISOLATION: "process",
    SANDBOX_FORCE_PROCESS: "1",
    SANDBOX_PYTHON: python,
  };
}

/** Its own settings and what every program needs, without secrets of the Worker. */
function ownSettings(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(SANDBOX_\w+|PIP_\w+|PATH|HOME|TMPDIR|LANG|LC_\w+)$/.test(name),
    ),
  );
}

/** The isolation of code, in words; undefined while the service does not answer. */
async function isolationAt(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
    const { code } = (await response.json()) as { code: { isolation: string; walls: string[] } };
    return [code.isolation, ...code.walls].join(", ");
  } catch {
    // Not listening yet.
    return undefined;
  }
}

function isWarning(line: string): boolean {
  return line.startsWith("Warning: ");
}

/** Lower ports are left to people. */
const LOWEST_PORT = 20_000;
/** The lowest ephemeral port of Linux; other systems begin higher. */
const LOWEST_ASSIGNED_PORT = 32_768;

/** A free port below the ephemeral ones, so that the system does not give it to another program during a restart. */
async function freePort(host: string): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, LOWEST_ASSIGNED_PORT);
    if (await isFree(host, port)) return port;
  }
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", () => done(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => done(true)));
  });
}
