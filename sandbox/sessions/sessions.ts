import { randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { busy, shuttingDown } from "../problem.ts";
import type { Isolation } from "../runner.ts";
import type { Execution, ExecutionRequest } from "./execution.ts";
import { SessionFiles } from "./files.ts";
import { Gate } from "./gate.ts";
import type { ExecutionResult } from "./manifest.ts";
import { OpenSessions } from "./open-sessions.ts";
import type { ExecutionLimits } from "./run-blocks.ts";
import { Session } from "./session.ts";
import { SessionState } from "./state.ts";
import { directoryName, SessionStore, sync, unlessMissing } from "./store.ts";

export interface SessionsOptions extends ExecutionLimits {
  /** Directory for everything that is kept. */
  data: string;
  isolation: Isolation;
  maxSessions: number;
  /** Executions that run at once. */
  concurrency: number;
  /** Executions that wait. */
  maxWaiting: number;
  recordedResults: number;
  idleSeconds: number;
  warmSeconds: number;
  maxWarm: number;
  log: (error: unknown) => void;
}

const MOST_MS_BETWEEN_UNLOADS = 10_000;
const MOST_MS_BETWEEN_SWEEPS = 600_000;

/** All sessions: in memory while they are used, on the disk until they are removed or idle for long. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #gate: Gate;
  readonly #open: OpenSessions;
  /** The directories there are, or will be. */
  readonly #known: Set<string>;
  readonly #timers: NodeJS.Timeout[];
  /** Executions that run or wait. */
  #pending = 0;
  readonly #closing = new AbortController();

  private constructor(options: SessionsOptions, known: readonly string[]) {
    const { concurrency, warmSeconds, idleSeconds, maxWarm } = options;
    this.#options = options;
    this.#gate = new Gate(concurrency);
    this.#open = new OpenSessions({ warmMs: warmSeconds * 1000, maxWarm });
    this.#known = new Set(known);
    this.#timers = [
      this.#every(Math.min(warmSeconds * 500, MOST_MS_BETWEEN_UNLOADS), () =>
        this.#open.unload(Date.now()),
      ),
      this.#every(Math.min(idleSeconds * 250, MOST_MS_BETWEEN_SWEEPS), () => this.#sweep()),
    ];
  }

  static async open(options: SessionsOptions): Promise<Sessions> {
    const { data } = options;
    await mkdir(join(data, "sessions"), { recursive: true, mode: 0o700 });
    await rm(join(data, "removed"), { recursive: true, force: true });
    await mkdir(join(data, "removed"), { mode: 0o700 });
    return new Sessions(options, await readdir(join(data, "sessions")));
  }

  /**
   * The recorded result of a key, or an execution that will have one: a new one, or the one that runs already.
   *
   * @throws ProblemError 409 or 429
   */
  execute(id: string, request: ExecutionRequest): Promise<ExecutionResult | Execution> {
    return this.#use(id, async (session) => {
      const found = request.keyed && session.find(request.keyed);
      if (found !== undefined)
        return "running" in found ? found.running : session.read(found.recorded);
      this.#admit();
      this.#add(id);
      const execution = session.start(request);
      // Nobody has to wait for it, but it keeps its session.
      void this.#use(id, () => execution.result).catch(() => undefined);
      this.#pending++;
      void execution.result.catch(() => undefined).then(() => this.#pending--);
      return execution;
    });
  }

  /** Stops what runs or waits under a key; false when there is nothing. */
  cancel(id: string, key: string): Promise<boolean> {
    return this.#use(id, (session) => session.cancel(key));
  }

  /** Does something with the files of a session. */
  files<T>(id: string, action: (files: SessionFiles) => T | Promise<T>): Promise<T> {
    return this.#use(id, async ({ state }) => action(new SessionFiles(state, this.#options)));
  }

  /** Like `files`, for what makes a session that does not exist. @throws ProblemError 429 */
  newFiles<T>(id: string, action: (files: SessionFiles) => Promise<T>): Promise<T> {
    return this.#use(id, async ({ state }) => {
      this.#add(id);
      return action(new SessionFiles(state, this.#options));
    });
  }

  /** Stops what runs in a session, then removes all of it. */
  async remove(id: string): Promise<void> {
    await this.#remove(directoryName(id));
  }

  /** Stops everything. What ran has no result, so that it can run again. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await this.#open.close();
    await this.#options.isolation.close();
  }

  async #use<T>(id: string, action: (session: Session) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw shuttingDown();
    return this.#open.use(directoryName(id), () => this.#load(id), action);
  }

  async #load(id: string): Promise<Session> {
    const store = new SessionStore(this.#directory(directoryName(id)), id);
    const state = await SessionState.load(store);
    return new Session(state, {
      ...this.#options,
      limits: this.#options,
      gate: this.#gate,
      closing: this.#closing.signal,
    });
  }

  #admit(): void {
    const { concurrency, maxWaiting } = this.#options;
    if (this.#pending < concurrency + maxWaiting) return;
    throw busy("too_many_waiting", `${this.#pending} requests run or wait already.`, 2);
  }

  #add(id: string): void {
    const name = directoryName(id);
    if (!this.#known.has(name) && this.#known.size >= this.#options.maxSessions)
      throw busy("too_many_sessions", `There are ${this.#known.size} sessions already.`, 60);
    this.#known.add(name);
  }

  #remove(name: string): Promise<void> {
    return this.#open.remove(name, async () => {
      // Gone as a whole by the rename; what takes longer may be interrupted.
      const removed = join(this.#options.data, "removed", randomBytes(16).toString("hex"));
      const was = await unlessMissing(rename(this.#directory(name), removed).then(() => true));
      this.#known.delete(name);
      if (was === undefined) return;
      await sync(join(this.#options.data, "sessions"));
      await rm(removed, { recursive: true, force: true });
    });
  }

  /** Removes the sessions that were idle for too long. */
  async #sweep(): Promise<void> {
    for (const name of this.#known) {
      const changed = await new SessionStore(this.#directory(name), "").changedAt();
      const idleMs = Date.now() - (changed?.getTime() ?? 0);
      if (idleMs >= this.#options.idleSeconds * 1000 && !this.#open.uses(name))
        await this.#remove(name);
    }
  }

  #directory(name: string): string {
    return join(this.#options.data, "sessions", name);
  }

  #every(ms: number, action: () => Promise<void>): NodeJS.Timeout {
    return setInterval(() => {
      action().catch((error: unknown) => this.#options.log(error));
    }, ms).unref();
  }
}
