import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { groupLives, signalGroup } from "./process-group.mjs";

/** How wrangler logs the requests of the start itself. */
const OWN_REQUEST = /GET \/(healthz|v1\/templates) \d/;

/**
 * `wrangler dev` on an internal port.
 *
 * @typedef {object} WranglerOptions
 * @property {string} root of the project
 * @property {string} host
 * @property {number} port
 * @property {import("./state.mjs").State} state
 * @property {string} vars the file with the variables of the Worker
 * @property {string[]} args further arguments
 * @property {string} publicUrl shown instead of the internal one
 */
export class Wrangler {
  #child;
  #url;
  #publicUrl;
  /** Its output before it was ready: shown only if that never happens. @type {string[] | undefined} */
  #held = [];

  /** @param {WranglerOptions} options */
  constructor({ root, host, port, state, vars, args, publicUrl }) {
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
    /** @param {string} name */
    const preload = (name) => ["--import", join(import.meta.dirname, name)];
    this.#url = `http://${host}:${port}`;
    this.#publicUrl = publicUrl;
    this.#child = spawn(
      process.execPath,
      [
        ...preload("end-with-parent.mjs"),
        ...preload("hold-state.mjs"),
        join(root, "node_modules/wrangler/bin/wrangler.js"),
        ...all,
      ],
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

  /** Calls `ended` with the reason when it ends by itself. @param {(why: string, code: number) => void} ended */
  onEnd(ended) {
    this.#child.on("error", (error) => ended(`wrangler did not start: ${error.message}`, 1));
    this.#child.on("close", (code) => ended("The server stopped by itself.", code || 1));
  }

  /** Shows what it prints from now on, and drops what it printed before. */
  showOutput() {
    this.#held = undefined;
  }

  /** Shows what it printed so far, and what it prints from now on. */
  showHeldOutput() {
    if (this.#held !== undefined && this.#held.length > 0) console.error(this.#held.join("\n"));
    this.#held = undefined;
  }

  /** @param {"SIGTERM" | "SIGKILL"} signal */
  stop(signal) {
    signalGroup(this.#child, signal);
  }

  get lives() {
    return groupLives(this.#child);
  }

  /**
   * @param {import("node:stream").Readable} from
   * @param {NodeJS.WriteStream} to
   */
  #forward(from, to) {
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
