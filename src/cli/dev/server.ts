import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EgressProxy } from "./front/egress-proxy.ts";
import { Front } from "./front/front.ts";
import { authVars, type LocalKeys } from "./state/generated-keys.ts";
import { greeting } from "./greeting.ts";
import { healthOf } from "./health.ts";
import { watchParent } from "./process/parent.ts";
import { ENTRY_SOCKET } from "./process/private-ports.ts";
import { Runtime } from "./process/runtime.ts";
import { findWrangler } from "./process/wrangler.ts";
import { allowedOrigins } from "../../api/http/access/cors.ts";
import { unknownLimits } from "../../service/parse-settings.ts";
import { checkWorkerSettings, type DevSettings, readSettings } from "./settings.ts";
import { socketDirectory, useWritableTemporaryDirectory } from "./state/socket-directory.ts";
import { State, unlistedTeams, unreadBindings } from "./state/state.ts";

const HOST = "127.0.0.1";
const READY_WITHIN_MS = 90_000;
/** The longest wait of requests for a sandbox that is starting. */
const SANDBOX_WITHIN_MS = 60_000;
const GRACE_MS = 5_000;

/** The settings that configure credentials. */
const CREDENTIALS = ["API_KEYS", "OPERATOR_KEY_HASH", "JWT_ISSUER"];

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

export interface DevServerOptions {
  /** The directory of the project. */
  root: string;
  /** True to generate keys and accept only these. */
  auth: boolean;
  /** The port of the inspector; without it, the inspector is off. */
  inspect: number | undefined;
  /** More arguments of `wrangler dev`. */
  wranglerArguments: readonly string[];
  /** Creates a sandbox that keeps its data in the directory. Without it, SANDBOX_URL must name one. */
  sandbox: ((directory: string) => LocalSandbox) | undefined;
}

/**
 * A project's Worker on this machine. It is open to local requests only; with `auth`, it requires credentials as a deployed
 * Worker does.
 *
 * A front server listens on PORT and passes requests on to the Worker, which `wrangler dev` builds and starts on a Unix
 * socket. docs/configuration.md lists the settings; those of the Worker may also be in .dev.vars.
 */
export class DevServer {
  readonly #options: DevServerOptions;
  readonly #settings: DevSettings;
  readonly #state: State;
  readonly #url: string;
  readonly #frontKey = randomBytes(32).toString("base64url");
  #keys: LocalKeys | undefined;
  #sandbox: LocalSandbox | undefined;
  #runtime: Runtime | undefined;
  /** True while responses are logged. Those to its own requests while it starts are not. */
  #logging = false;
  #stopping = false;

  /** @throws Error naming the invalid setting */
  constructor(options: DevServerOptions) {
    this.#options = options;
    this.#settings = readSettings(options.root, process.env, options.auth);
    checkWorkerSettings(this.#settings);
    for (const line of unknownLimits(process.env)) console.error(line);
    this.#state = new State(this.#settings.persistTo);
    this.#url = `http://${HOST}:${this.#settings.port}`;
  }

  /**
   * Starts it and prints a greeting once it answers. Ends this process when the server ends.
   *
   * @throws Error when it cannot be started
   */
  async start(): Promise<void> {
    const { root, auth, inspect, wranglerArguments } = this.#options;
    const { port, open, worker } = this.#settings;
    const state = this.#state;
    const program = findWrangler(root, wranglerArguments);
    useWritableTemporaryDirectory();
    await state.lock(port);
    if (auth) this.#keys = state.credentials();
    const unread = unreadBindings(root, state.directory);
    if (unread !== undefined) console.error(unread);

    const sockets = { directory: socketDirectory(), ...(inspect !== undefined && { inspect }) };
    const front = new Front({
      host: HOST,
      port,
      socket: join(sockets.directory, ENTRY_SOCKET),
      key: this.#frontKey,
      open,
      origins: allowedOrigins(worker["ALLOWED_ORIGINS"]),
      diskIsFull: () => state.diskIsFull(),
      log: (line) => {
        if (this.#logging) console.log(line);
      },
    });
    await front.listen();
    const egressProxy = new EgressProxy(HOST);
    await egressProxy.listen();
    // A closed server behaves like a deployed one, which sends code to https:// addresses only.
    if (open && !worker["SANDBOX_URL"]) this.#sandbox = this.#options.sandbox?.(state.sandbox);
    await this.#sandbox?.start();
    const sandboxReady = this.#sandbox?.ready() ?? Promise.resolve(undefined);
    // Requests wait for it: the first teams with Python tools would fail otherwise.
    const sandboxStarted = Promise.race([
      sandboxReady,
      sleep(SANDBOX_WITHIN_MS, undefined, { ref: false }),
    ]);
    let loading = true;
    const unlisted = unlistedTeams(state.directory);

    process.on("exit", () => {
      this.#signalAll("SIGKILL");
      state.removeVars();
      rmSync(sockets.directory, { recursive: true, force: true });
    });
    this.#runtime = new Runtime({
      program,
      root,
      sockets,
      state,
      vars: state.writeVars(this.#workerVars(egressProxy)),
      args: wranglerArguments,
      publicUrl: this.#url,
      onMessage: (message) => {
        loading = message === "loading";
        if (loading) front.hold();
        else void sandboxStarted.then(() => loading || front.release());
      },
      onEnd: (why, code) => {
        if (this.#stopping) return;
        console.error(why);
        void this.#stop(code);
      },
    });
    this.#stopWhenAsked();
    const answers = await this.#ready(this.#runtime);
    if (answers === undefined) return;
    const text = await greeting({
      url: this.#url,
      root,
      api: answers === "api",
      open,
      credentials: CREDENTIALS.some((name) => worker[name]),
      keys: this.#keys,
      sandbox: await this.#whereCodeRuns(sandboxReady),
      inspect,
    });
    if (answers === "api") await this.#loadTeams(unlisted);
    this.#runtime.supervise();
    this.#logging = !isQuiet(wranglerArguments);
    console.log(text);
  }

  #workerVars(egressProxy: EgressProxy): Record<string, string> {
    const { fromEnvironment, worker, open } = this.#settings;
    const key = worker["SECRETS_KEY"];
    if (key !== undefined && this.#state.hasSecretsKey(key)) {
      console.error(
        `SECRETS_KEY is set, so ${this.#state.directory}/secrets-key is not used: secrets stored with it cannot be read.`,
      );
    }
    return {
      ...fromEnvironment,
      TROUPE_OPEN: open ? "1" : "0",
      PUBLIC_URL: worker["PUBLIC_URL"] ?? this.#url,
      SECRETS_KEY: key ?? this.#state.secretsKey(),
      TROUPE_FRONT_KEY: this.#frontKey,
      ...(this.#keys && authVars(this.#keys)),
      TROUPE_EGRESS_PROXY: egressProxy.url,
      ...(this.#sandbox && { SANDBOX_URL: this.#sandbox.url, SANDBOX_KEY: this.#sandbox.key }),
    };
  }

  #stopWhenAsked(): void {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => {
        // The second signal does not wait.
        if (this.#stopping) this.#signalAll("SIGKILL");
        void this.#stop(0);
      });
    }
    // The program that reads the output has ended (`npm start | head`).
    process.stdout.on("error", () => void this.#stop(0));
    process.stderr.on("error", () => void this.#stop(0));
    watchParent(() => void this.#stop(0));
  }

  async #stop(code: number): Promise<void> {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#signalAll("SIGTERM");
    const deadline = Date.now() + GRACE_MS;
    while (this.#anyLives() && Date.now() < deadline) await sleep(50);
    process.exit(code);
  }

  #signalAll(signal: "SIGTERM" | "SIGKILL"): void {
    this.#runtime?.stop(signal);
    this.#sandbox?.stop(signal);
  }

  #anyLives(): boolean {
    return this.#runtime?.lives === true || this.#sandbox?.lives === true;
  }

  /** The Worker's health, once it answers; undefined after the timeout. */
  async #ready(runtime: Runtime): Promise<"api" | "other" | undefined> {
    const deadline = Date.now() + READY_WITHIN_MS;
    while (!this.#stopping) {
      const health = await healthOf(this.#url);
      if (health.state === "api" || health.state === "other") return health.state;
      if (health.state === "misconfigured") this.#fail(health.reason);
      else if (Date.now() > deadline) {
        runtime.showHeldOutput();
        const seconds = READY_WITHIN_MS / 1000;
        this.#fail(`The server did not answer ${this.#url}/healthz within ${seconds} s.`);
      }
      await sleep(150);
    }
    return undefined;
  }

  #fail(reason: string): void {
    console.error(reason);
    void this.#stop(1);
  }

  async #whereCodeRuns(sandboxReady: Promise<string | undefined>): Promise<string> {
    const other = this.#settings.worker["SANDBOX_URL"];
    if (other) return `The agents' code runs in the sandbox at ${other}.`;
    if (this.#sandbox === undefined) return "Agents cannot run code: SANDBOX_URL is not set.";
    const isolation = await sandboxReady;
    return isolation === undefined
      ? "Agents cannot run code: the sandbox did not start."
      : `The agents' code runs in a sandbox on this machine, process ${this.#sandbox.pid} (isolation: ${isolation}).`;
  }

  /** Loads teams, so that they are listed. A team of another tenant than the key's is listed when it is used. */
  async #loadTeams(ids: readonly string[]): Promise<void> {
    const headers = new Headers();
    if (this.#keys) headers.set("authorization", `Bearer ${this.#keys.apiKey.key}`);
    for (const id of ids) {
      const response = await fetch(`${this.#url}/v1/teams/${id}`, { headers });
      await response.text();
    }
  }
}

/** True if the log shows only errors. */
function isQuiet(wranglerArguments: readonly string[]): boolean {
  return /--log-level[ =](warn|error|none)/.test(wranglerArguments.join(" "));
}
