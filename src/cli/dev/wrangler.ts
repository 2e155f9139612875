import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { CliError } from "../terminal/errors.ts";
import { CONFIGURATIONS } from "../serve/built-worker.ts";
import { isNoise } from "../server/process/noise.ts";
import type { State } from "../server/state/state.ts";
import { endWithParent, moduleNextTo, preload } from "../server/process/preload.ts";
import type { PrivatePortsOptions } from "./private-ports.ts";
import { groupLives, signalGroup } from "../server/process/process-group.ts";
import type { RuntimeMessage } from "../server/runtime.ts";

export interface WranglerOptions {
  /** The file of the program, see {@link findWrangler}. */
  program: string;
  /** The directory of the project. */
  root: string;
  /** The socket that it listens on. */
  sockets: PrivatePortsOptions;
  state: State;
  /** The user's files with variables of the Worker. */
  devVars: readonly string[];
  /** The file with the other variables of the Worker, which take precedence. */
  vars: string;
  /** More arguments. */
  args: readonly string[];
  /** The address to show instead of wrangler's own, which has no port. */
  publicUrl: string;
}

/** The address that wrangler prints. It is invalid, because wrangler does not listen on a port. */
const NO_URL = "http://127.0.0.1:1";

/** `wrangler dev` on Unix sockets. */
export class Wrangler {
  readonly #child: ChildProcess;
  readonly #publicUrl: string;
  /** Its output before it was ready. It is shown only if the start fails. */
  #held: string[] | undefined = [];

  constructor(options: WranglerOptions) {
    const { program, root, sockets, state, devVars, vars, args, publicUrl } = options;
    const userVars = devVars.flatMap((file) => ["--env-file", file]);
    // prettier-ignore
    const all = [
      "dev", "--persist-to", state.directory,
      ...userVars, "--env-file", vars,
      "--show-interactive-dev-session=false", "--no-minify",
      // These ports are not opened. Without them, wrangler looks for free ones.
      "--port", "1", "--inspector-port", "1",
      ...args,
    ];
    this.#publicUrl = publicUrl;
    const run = moduleNextTo("../../dev/run-wrangler");
    this.#child = spawn(
      process.execPath,
      [
        "--no-warnings",
        ...endWithParent(),
        ...preload("../state/hold-state"),
        run,
        program,
        ...all,
      ],
      {
        cwd: root,
        // Its own process group, so that esbuild and workerd can be ended with it.
        detached: true,
        stdio: ["ignore", "pipe", "pipe", "ipc"],
        env: {
          ...process.env,
          TROUPE_SOCKETS: JSON.stringify(sockets),
          TROUPE_RUNTIME_LOCK: state.runtimeLock,
          WRANGLER_SEND_METRICS: "false",
          WRANGLER_SEND_ERROR_REPORTS: "false",
          WRANGLER_HIDE_BANNER: "true",
          WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
          // The Worker does not read Request.cf, so do not download a sample of it.
          CLOUDFLARE_CF_FETCH_ENABLED: "false",
          ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
        },
      },
    );
    this.#forward(this.#child.stdout as Readable, process.stdout);
    this.#forward(this.#child.stderr as Readable, process.stderr);
  }

  /** Calls `listener` with each message about the Worker. */
  onMessage(listener: (message: RuntimeMessage) => void): void {
    this.#child.on("message", listener);
  }

  /** Calls `ended` with the reason when wrangler exits on its own. */
  onEnd(ended: (why: string, code: number) => void): void {
    this.#child.on("error", (error) => ended(`wrangler did not start: ${error.message}`, 1));
    this.#child.on("close", (code, signal) => {
      ended(`Wrangler exited (${signal ?? `exit code ${code}`}).`, code || 1);
    });
  }

  /** Shows its output and drops what it printed before. */
  showOutput(): void {
    this.#held = undefined;
  }

  /** Shows its output so far, and all output that follows. */
  showHeldOutput(): void {
    if (this.#held !== undefined && this.#held.length > 0) console.error(this.#held.join("\n"));
    this.#held = undefined;
  }

  stop(signal: "SIGTERM" | "SIGKILL"): void {
    signalGroup(this.#child, signal);
  }

  get lives(): boolean {
    return groupLives(this.#child);
  }

  #forward(from: Readable, to: NodeJS.WriteStream): void {
    createInterface({ input: from }).on("line", (text) => {
      const line = shownLine(text, to.isTTY)?.replaceAll(NO_URL, this.#publicUrl);
      if (line === undefined) return;
      if (this.#held === undefined) {
        to.write(`${line}\n`);
        return;
      }
      this.#held.push(line);
      // The Worker does not compile. Wrangler waits until it is fixed, and so does the start.
      if (/\bERROR\b/.test(line)) this.showHeldOutput();
    });
  }
}

/** A line of wrangler as it is shown; undefined when it is left out. Wrangler also colours output to files. */
export function shownLine(text: string, colours: boolean): string | undefined {
  const plain = stripVTControlCharacters(text);
  if (isNoise(plain)) return undefined;
  return colours ? text : plain;
}

/**
 * The wrangler of a project.
 *
 * @param args the arguments of wrangler; they may name another configuration
 * @throws CliError when wrangler or its configuration is missing
 */
export function findWrangler(root: string, args: readonly string[]): string {
  const configured =
    args.some((argument) => /^(-c|--config)(=|$)/.test(argument)) ||
    CONFIGURATIONS.some((name) => existsSync(join(root, name)));
  if (!configured) {
    throw new CliError(
      `There is no wrangler.toml in ${root}. Run this command in your project, or create one: npx troupe init`,
      { code: "no_project" },
    );
  }
  try {
    return createRequire(join(root, "package.json")).resolve("wrangler");
  } catch {
    throw new CliError(
      `Wrangler is not installed in ${root}. Install it: npm install --save-dev wrangler`,
      { code: "no_wrangler" },
    );
  }
}
