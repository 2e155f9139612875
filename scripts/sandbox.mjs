import { spawn } from "node:child_process";
import { randomBytes, randomInt } from "node:crypto";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { endWithParent } from "#cli/dev/process/preload.ts";
import { groupLives, signalGroup } from "#cli/dev/process/process-group.ts";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 180_000;
/** After a shorter life it is not restarted at once. */
const SHORT_LIFE_MS = 2_000;
/** Lines of output that are shown when it does not start. */
const LINES_SHOWN = 20;
/** Failures before its first answer after which it is not started again. */
const MAX_FAILURES = 3;

/** The sandbox service in a process of its own. When it dies, it is restarted with the same address, key and data. */
export class Sandbox {
  /** Its address. */
  url = "";
  key = randomBytes(32).toString("base64url");
  #root;
  #data;
  #port = 0;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  /** Its output before it was ready. @type {string[] | undefined} */
  #held = [];
  #stopping = false;
  #failures = 0;

  /**
   * @param {string} root the project's folder
   * @param {string} data the directory of its sessions
   */
  constructor(root, data) {
    this.#root = root;
    this.#data = data;
  }

  get pid() {
    return this.#child?.pid;
  }

  async start() {
    this.#port = await freePort(HOST);
    this.url = `http://${HOST}:${this.#port}`;
    this.#spawn();
  }

  /** Resolves to what isolates code when it answers; to undefined, after printing its output, when it does not. */
  async ready() {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!this.#stopping && this.#failures < MAX_FAILURES && Date.now() < deadline) {
      const isolation = await isolationAt(this.url);
      if (isolation !== undefined) {
        for (const line of this.#held?.filter(isWarning) ?? []) console.error(`sandbox: ${line}`);
        this.#held = undefined;
        return isolation;
      }
      await sleep(100);
    }
    if (!this.#stopping) {
      const silent = `It has not answered at ${this.url} within ${READY_WITHIN_MS / 1000} s.`;
      const lines = this.#held?.slice(-LINES_SHOWN) ?? [];
      const reason = this.#failures < MAX_FAILURES ? [...lines, silent] : lines;
      console.error(`The sandbox does not start:\n${reason.join("\n")}`);
      this.stop("SIGTERM");
    }
    return undefined;
  }

  /**
   * On SIGTERM it ends its own processes; SIGKILL kills the whole group.
   *
   * @param {"SIGTERM" | "SIGKILL"} signal
   */
  stop(signal) {
    this.#stopping = true;
    if (this.#child === undefined) return;
    if (signal === "SIGKILL") signalGroup(this.#child, signal);
    else this.#child.kill(signal);
  }

  get lives() {
    return this.#child !== undefined && groupLives(this.#child);
  }

  #spawn() {
    const started = Date.now();
    if (this.#held !== undefined) this.#held = [];
    const child = spawn(
      process.execPath,
      [...endWithParent(), join(this.#root, "sandbox/main.ts")],
      {
        cwd: this.#root,
        // Its own process group, so that the processes it runs code in can be ended with it.
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...ownSettings(),
          SANDBOX_HOST: HOST,
          SANDBOX_PORT: String(this.#port),
          SANDBOX_KEY: this.key,
          SANDBOX_DATA: this.#data,
        },
      },
    );
    this.#child = child;
    createInterface({ input: child.stdout }).on("line", (line) => this.#held?.push(line));
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (this.#held === undefined) console.error(`sandbox: ${line}`);
      else this.#held.push(line);
    });
    child.on("error", (error) => void this.#ended(started, error.message));
    // Not "close": its children may outlive it and keep its output open.
    child.on("exit", (code, signal) => void this.#ended(started, signal ?? `exit code ${code}`));
  }

  /**
   * @param {number} started
   * @param {string} how
   */
  async #ended(started, how) {
    // When it was killed, the processes that ran code are still there.
    if (this.#child !== undefined) signalGroup(this.#child, "SIGKILL");
    if (this.#stopping) return;
    this.#failures++;
    if (this.#held === undefined) {
      console.error(`The sandbox ended (${how}) and is restarted.`);
    } else {
      this.#held.push(`It ended: ${how}.`);
      // Another start would clear the output that says why.
      if (this.#failures >= MAX_FAILURES) return;
    }
    if (Date.now() - started < SHORT_LIFE_MS) await sleep(1_000);
    if (!this.#stopping) this.#spawn();
  }
}

/** Its own settings and what every program needs, without secrets of the Worker. */
function ownSettings() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(SANDBOX_\w+|PATH|HOME|TMPDIR|LANG|LC_\w+)$/.test(name),
    ),
  );
}

/**
 * What isolates code, in words.
 *
 * @param {string} url
 * @returns {Promise<string | undefined>}
 */
async function isolationAt(url) {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(5_000) });
    const { code } = /** @type {{ code: { isolation: string, walls: string[] } }} */ (
      await response.json()
    );
    return [code.isolation, ...code.walls].join(", ");
  } catch {
    // Not listening yet.
    return undefined;
  }
}

/** @param {string} line */
function isWarning(line) {
  return line.startsWith("Warning: ");
}

/** Lower ports are left to people. */
const LOWEST_PORT = 20_000;
/** The lowest ephemeral port of Linux; other systems begin higher. */
const LOWEST_ASSIGNED_PORT = 32_768;

/** A free port below the ephemeral ones, so that the system does not give it to another program during a restart. */
async function freePort(/** @type {string} */ host) {
  for (;;) {
    const port = randomInt(LOWEST_PORT, LOWEST_ASSIGNED_PORT);
    if (await isFree(host, port)) return port;
  }
}

/** @param {string} host @param {number} port @returns {Promise<boolean>} */
function isFree(host, port) {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", () => done(false));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => done(true)));
  });
}
