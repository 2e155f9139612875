import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { isIPv6 } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { allowedOrigins } from "../../api/http/access/cors.ts";
import { codeWord, unknownLimits } from "../../service/parse-settings.ts";
import { EgressProxy } from "./front/egress-proxy.ts";
import { Front } from "./front/front.ts";
import { healthOf } from "./health.ts";
import type { ServerLog } from "./process/log.ts";
import type { LocalSandbox } from "./process/sandbox-process.ts";
import { watchParent } from "./process/parent.ts";
import { ENTRY_SOCKET, type Runtime, type RuntimeStart } from "./runtime.ts";
import { checkWorkerSettings, type ServerSettings } from "./settings.ts";
import { authVars, type LocalKeys } from "./state/generated-keys.ts";
import { socketDirectory, useWritableTemporaryDirectory } from "./state/socket-directory.ts";
import type { State } from "./state/state.ts";

/** Outgoing requests of the Worker go to a proxy of this process. */
const PROXY_HOST = "127.0.0.1";
const READY_WITHIN_MS = 90_000;
/** The longest wait of requests for a sandbox that is starting. */
const SANDBOX_WITHIN_MS = 60_000;
const GRACE_MS = 5_000;

/** The address and the parts of a server that answers. */
export interface ServerReport {
  url: string;
  /** True if the API is at this URL, not below a path that the project chose. */
  api: boolean;
  /** The keys that were generated for this state. */
  keys: LocalKeys | undefined;
  /** A sentence that says where code runs. */
  sandbox: string;
}

export interface LocalServerOptions {
  /** The address that it listens on. */
  host: string;
  settings: ServerSettings;
  state: State;
  log: ServerLog;
  /** True if each response is logged. */
  logRequests: boolean;
  /** The name of the keys that it generates if `settings` asks for it. */
  keyName: string;
  /** True if the client's address is the last one of X-Forwarded-For. */
  behindProxy: boolean;
  /** Bytes of the disk with the state; with fewer free ones, requests that write are refused. */
  leastFreeBytes: number;
  /** True if it stops when the process that started it has ended, as a program in a terminal does. */
  endsWithParent: boolean;
  /** The command that starts this server on another port, for the error of a port that is taken. */
  commandForPort: (port: number) => string;
  /** Starts the Worker. */
  launch: (start: RuntimeStart) => Promise<Runtime> | Runtime;
  /** Creates a sandbox that keeps its data in the directory; undefined without one. */
  sandbox: ((directory: string) => LocalSandbox) | undefined;
  onReady: (report: ServerReport) => Promise<void> | void;
}

/**
 * A Worker on this machine: a front server for clients, which passes requests on to the Worker on a Unix socket, a proxy for the
 * Worker's own requests, and a sandbox. `troupe dev` and `troupe serve` differ in what runs the Worker.
 */
export class LocalServer {
  readonly #options: LocalServerOptions;
  readonly #url: string;
  readonly #frontKey = randomBytes(32).toString("base64url");
  #keys: LocalKeys | undefined;
  #sandbox: LocalSandbox | undefined;
  #runtime: Runtime | undefined;
  /** True while responses are logged. Those to its own requests while it starts are not. */
  #logging = false;
  #stopping = false;

  /** @throws Error naming the invalid setting */
  constructor(options: LocalServerOptions) {
    this.#options = options;
    const { host, settings, log } = options;
    checkWorkerSettings(settings);
    for (const line of unknownLimits({ ...settings.worker, ...process.env }))
      log.line("warn", line);
    this.#url = `http://${reachable(host)}:${settings.port}`;
  }

  /**
   * Starts it and reports once it answers. Ends this process when the server ends.
   *
   * @throws Error when it cannot be started
   */
  async start(): Promise<void> {
    const { host, settings, state, log, behindProxy, leastFreeBytes } = this.#options;
    const { port, open, worker, generateKeys } = settings;
    useWritableTemporaryDirectory();
    await state.lock(port);
    if (generateKeys) this.#keys = state.credentials();

    const sockets = socketDirectory();
    const front = new Front({
      host,
      port,
      socket: join(sockets, ENTRY_SOCKET),
      key: this.#frontKey,
      open,
      origins: allowedOrigins(worker["ALLOWED_ORIGINS"]),
      behindProxy,
      commandForPort: this.#options.commandForPort,
      diskIsFull: () => state.diskIsFull(),
      refusesWrites: () => leastFreeBytes > 0 && state.diskIsFull(leastFreeBytes),
      log: (answered) => {
        if (this.#logging) log.request(answered);
      },
    });
    await front.listen();
    const egressProxy = new EgressProxy(PROXY_HOST);
    await egressProxy.listen();
    const needsNone = ["off", "loader"].includes(codeWord(worker["CODE"]));
    const hasOther = Boolean(worker["SANDBOX_URL"]);
    this.#sandbox = needsNone || hasOther ? undefined : this.#options.sandbox?.(state.sandbox);
    await this.#sandbox?.start();
    const sandboxReady = this.#sandbox?.ready() ?? Promise.resolve(undefined);
    // Requests wait for it: the first teams with Python tools would fail otherwise.
    const sandboxStarted = Promise.race([
      sandboxReady,
      sleep(SANDBOX_WITHIN_MS, undefined, { ref: false }),
    ]);
    let loading = true;
    const unlisted = state.unlistedTeams();

    process.on("exit", () => {
      this.#signalAll("SIGKILL");
      this.#runtime?.clean();
      rmSync(sockets, { recursive: true, force: true });
    });
    this.#runtime = await this.#options.launch({
      sockets,
      state,
      log,
      vars: this.#workerVars(egressProxy),
      sandbox: this.#sandbox,
      url: this.#url,
      onMessage: (message) => {
        loading = message === "loading";
        if (loading) front.hold();
        else void sandboxStarted.then(() => loading || front.release());
      },
      onEnd: (why, code) => {
        if (this.#stopping) return;
        log.line("error", why);
        void this.#stop(code);
      },
    });
    this.#stopWhenAsked();
    const answers = await this.#ready(this.#runtime);
    if (answers === undefined) return;
    if (answers === "api") {
      await this.#loadTeams(unlisted);
      state.noteListed();
    }
    this.#runtime.supervise();
    await this.#options.onReady({
      url: this.#url,
      api: answers === "api",
      keys: this.#keys,
      sandbox: await this.#whereCodeRuns(sandboxReady),
    });
    this.#logging = this.#options.logRequests;
  }

  #workerVars(egressProxy: EgressProxy): Record<string, string> {
    const { settings, state, log } = this.#options;
    const { fromEnvironment, worker, open } = settings;
    const key = worker["SECRETS_KEY"];
    if (key !== undefined && state.hasSecretsKey(key)) {
      log.line(
        "warn",
        `SECRETS_KEY is set, so ${state.directory}/secrets-key is not used: secrets stored with it cannot be read.`,
      );
    }
    return {
      ...fromEnvironment,
      TROUPE_OPEN: open ? "1" : "0",
      SECRETS_KEY: key ?? state.secretsKey(),
      TROUPE_FRONT_KEY: this.#frontKey,
      ...(this.#keys && authVars(this.#keys, this.#options.keyName)),
      TROUPE_EGRESS_PROXY: egressProxy.url,
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
    if (this.#options.endsWithParent) watchParent(() => void this.#stop(0));
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
    this.#options.log.line("error", reason);
    void this.#stop(1);
  }

  async #whereCodeRuns(sandboxReady: Promise<string | undefined>): Promise<string> {
    const { worker } = this.#options.settings;
    const other = worker["SANDBOX_URL"];
    const place = codeWord(worker["CODE"]);
    if (place === "off") return "Agents cannot run code: CODE is off.";
    if (place === "loader")
      return "JavaScript of agents runs in dynamic Workers, and no other code.";
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

/** The address at which programs on this machine reach a server that listens on all addresses. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return isIPv6(host) ? `[${host}]` : host;
}
