import { type ChildProcessByStdio, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { CliError } from "../../errors.ts";
import type { State } from "../state/state.ts";
import { endWithParent, preload } from "./preload.ts";
import { groupLives, signalGroup } from "./process-group.ts";

/** How wrangler logs the requests of the start itself. */
const OWN_REQUEST = /GET \/(healthz|v1\/templates)? \d/;

const CONFIGURATIONS = ["wrangler.toml", "wrangler.json", "wrangler.jsonc"];

export interface WranglerOptions {
  /** The file of the program, see {@link findWrangler}. */
  program: string;
  /** The directory of the project. */
  root: string;
  host: string;
  port: number;
  state: State;
  /** The file with the variables of the Worker. */
  vars: string;
  /** Further arguments. */
  args: readonly string[];
  /** Shown instead of the internal one. */
  publicUrl: string;
}

/** `wrangler dev` on an internal port. */
export class Wrangler {
  readonly #child: ChildProcessByStdio<null, Readable, Readable>;
  readonly #url: string;
  readonly #publicUrl: string;
  /** Its output before it was ready: shown only if that never happens. */
  #held: string[] | undefined = [];

  constructor({ program, root, host, port, state, vars, args, publicUrl }: WranglerOptions) {
    const userVars = existsSync(join(root, ".dev.vars")) ? ["--env-file", ".dev.vars"] : [];
    // prettier-ignore
    const all = [
      "dev", "--ip", host, "--port", String(port), "--persist-to", state.directory,
      ...userVars, "--env-file", vars,
      "--show-interactive-dev-session=false", "--no-minify",
      // Any free one: wrangler's own search for one is a race when two servers start.
      "--inspector-port", "0",
      ...args,
    ];
    this.#url = `http://${host}:${port}`;
    this.#publicUrl = publicUrl;
    this.#child = spawn(
      process.execPath,
      [...endWithParent(), ...preload("../state/hold-state"), program, ...all],
      {
        cwd: root,
        // Its own process group, so that esbuild and workerd can be ended with it.
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          // A Worker of one's own may be bound to others that run on this machine.
          WRANGLER_REGISTRY_PATH: state.registry,
          ...process.env,
          TROUPE_RUNTIME_LOCK: state.runtimeLock,
          WRANGLER_SEND_METRICS: "false",
          WRANGLER_SEND_ERROR_REPORTS: "false",
          WRANGLER_HIDE_BANNER: "true",
          WRANGLER_NO_SKILLS_UPDATE_PROMPTS: "true",
          // Nothing here reads Request.cf: do not ask the network for a sample of it.
          CLOUDFLARE_CF_FETCH_ENABLED: "false",
          ...(process.stdout.isTTY && { FORCE_COLOR: "1" }),
        },
      },
    );
    this.#forward(this.#child.stdout, process.stdout);
    this.#forward(this.#child.stderr, process.stderr);
  }

  /** Calls `ended` with the reason when it ends by itself. */
  onEnd(ended: (why: string, code: number) => void): void {
    this.#child.on("error", (error) => ended(`wrangler did not start: ${error.message}`, 1));
    this.#child.on("close", (code) => ended("The server stopped by itself.", code || 1));
  }

  /** Shows what it prints from now on, and drops what it printed before. */
  showOutput(): void {
    this.#held = undefined;
  }

  /** Shows what it printed so far, and what it prints from now on. */
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
      const line = text.replaceAll(this.#url, this.#publicUrl);
      if (this.#held === undefined) {
        if (!OWN_REQUEST.test(line)) to.write(`${line}\n`);
        return;
      }
      this.#held.push(line);
      // A Worker that does not compile: wrangler waits until it is mended, and so does the start.
      if (/\bERROR\b/.test(line)) this.showHeldOutput();
    });
  }
}

/**
 * The wrangler of a project.
 *
 * @param args of wrangler; they may name another configuration
 * @throws CliError when the project has none, or no configuration of it
 */
export function findWrangler(root: string, args: readonly string[]): string {
  const configured =
    args.some((argument) => /^(-c|--config)(=|$)/.test(argument)) ||
    CONFIGURATIONS.some((name) => existsSync(join(root, name)));
  if (!configured) {
    throw new CliError(
      `There is no wrangler.toml in ${root}. Start it in your project, or make one: npx troupe init`,
      { code: "no_project" },
    );
  }
  try {
    const manifest = createRequire(join(root, "package.json")).resolve("wrangler/package.json");
    return join(manifest, "../bin/wrangler.js");
  } catch {
    throw new CliError(
      `wrangler is not installed in ${root}. Install it: npm install --save-dev wrangler`,
      { code: "no_wrangler" },
    );
  }
}
