import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { busy, invalid, shuttingDown } from "../problem.ts";
import type { Isolation, WorkspaceChange, WorkspaceEntry } from "../runner.ts";
import { keepChange, readEntry } from "./entries.ts";
import type { Execution, ExecutionRequest, FolderRequest } from "./execution.ts";
import { SessionFiles } from "./files.ts";
import type { OpenFolder } from "./interpreter.ts";
import type { ExecutionResult } from "./manifest.ts";
import { OpenSessions } from "./open-sessions.ts";
import type { ExecutionLimits } from "./run-blocks.ts";
import { Scheduler } from "./scheduler.ts";
import { Session } from "./session.ts";
import { SessionState } from "./state.ts";
import { apply, measure } from "./workspace.ts";
import { directoryName, SessionStore, sync, unlessMissing } from "./store.ts";

export interface SessionsOptions extends ExecutionLimits {
  /** The directory of all stored sessions. */
  data: string;
  isolation: Isolation;
  maxSessions: number;
  /** Executions that run at once. */
  concurrency: number;
  /** More that may, of sessions that have run little code lately. */
  reserved: number;
  /** Seconds of recent code that count as little. */
  shortSeconds: number;
  /** Executions that wait, of all sessions together. */
  maxWaiting: number;
  /** Executions of one session that wait. */
  maxSessionWaiting: number;
  recordedResults: number;
  idleSeconds: number;
  warmSeconds: number;
  maxWarm: number;
  log: (error: unknown) => void;
}

const MOST_MS_BETWEEN_UNLOADS = 10_000;
const MOST_MS_BETWEEN_SWEEPS = 600_000;

/** All sessions: in memory while they are used, on disk until they are removed or have been idle for too long. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #scheduler: Scheduler;
  readonly #open: OpenSessions;
  /** Names of the directories that exist or are about to. */
  readonly #known: Set<string>;
  readonly #timers: NodeJS.Timeout[];
  /** Executions that run or wait. */
  #pending = 0;
  readonly #closing = new AbortController();

  private constructor(options: SessionsOptions, known: readonly string[]) {
    const { concurrency, reserved, shortSeconds, warmSeconds, idleSeconds, maxWarm } = options;
    this.#options = options;
    this.#scheduler = new Scheduler({ concurrency, reserved, shortMs: shortSeconds * 1000 });
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
   * Returns the recorded result of a key, or an execution: a new one, or the one that runs under this key already.
   *
   * @throws ProblemError 409 or 429
   */
  execute(id: string, request: ExecutionRequest): Promise<ExecutionResult | Execution> {
    return this.#use(id, async (session) => {
      const found = request.keyed && session.find(request.keyed);
      if (found !== undefined)
        return "running" in found ? found.running : session.read(found.recorded);
      this.#admit(session);
      for (const folder of request.folders ?? []) await this.#openFolder(folder);
      this.#add(id);
      const execution = session.start(request);
      // Keeps the session in memory until the execution has ended.
      void this.#use(id, () => execution.result).catch(() => undefined);
      this.#pending++;
      void execution.result.catch(() => undefined).then(() => this.#pending--);
      return execution;
    });
  }

  /** Cancels the execution with this key; false when none runs or waits. */
  cancel(id: string, key: string): Promise<boolean> {
    return this.#use(id, (session) => session.cancel(key));
  }

  /** Calls `action` with the files of a session. */
  files<T>(id: string, action: (files: SessionFiles) => T | Promise<T>): Promise<T> {
    return this.#use(id, async ({ state }) => action(new SessionFiles(state, this.#options)));
  }

  /** Like `files`, but creates a session that does not exist. @throws ProblemError 429 */
  newFiles<T>(id: string, action: (files: SessionFiles) => Promise<T>): Promise<T> {
    return this.#use(id, async ({ state }) => {
      this.#add(id);
      return action(new SessionFiles(state, this.#options));
    });
  }

  /** The whole workspace of a session, with contents; creates a session that does not exist. @throws ProblemError 429 */
  snapshot(id: string): Promise<WorkspaceEntry[]> {
    return this.#use(id, ({ state }) => {
      this.#add(id);
      return state.using(() =>
        Promise.all(
          [...state.current.workspace]
            .toSorted(([a], [b]) => (a < b ? -1 : 1))
            .map(([path, entry]) => readEntry(state.store, path, entry)),
        ),
      );
    });
  }

  /** Adds changes to a workspace that exists. False when it would exceed its limits, and nothing was changed. */
  merge(id: string, change: WorkspaceChange): Promise<boolean> {
    return this.#use(id, async ({ state }) => {
      if (!this.#known.has(directoryName(id))) return false;
      return state.using(async () => {
        const { kept } = await keepChange(state.store, change);
        const { workspaceBytes, workspaceFiles } = this.#options;
        let fits = false;
        await state.update((current) => {
          const workspace = apply(current.workspace, kept);
          const { bytes, entries } = measure(workspace);
          fits = bytes <= workspaceBytes && entries <= workspaceFiles;
          return fits ? { ...current, workspace } : current;
        });
        return fits;
      });
    });
  }

  /** Cancels the executions of a session, then removes its files and results. */
  async remove(id: string): Promise<void> {
    await this.#remove(directoryName(id));
  }

  /** Stops everything. Executions that are stopped have no result, so they can run again. */
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
      name: id,
      scheduler: this.#scheduler,
      closing: this.#closing.signal,
      openFolder: (folder) => this.#openFolder(folder),
    });
  }

  /** @throws ProblemError 422 for a session without exactly this number of files */
  async #openFolder({ name, session: id, files }: FolderRequest): Promise<OpenFolder> {
    const blobs = this.#known.has(directoryName(id))
      ? await this.#use(id, ({ state }) =>
          Promise.resolve(
            [...state.current.workspace].flatMap(([path, entry]) =>
              entry.type === "file" ? [`${path} ${entry.blob}`] : [],
            ),
          ),
        )
      : [];
    if (blobs.length !== files) {
      const message = `has ${blobs.length} files, not ${files}: send its files first`;
      throw invalid("no_such_folder", `The session of the folder ${name} ${message}.`, [
        { path: "folders", message },
      ]);
    }
    const key = createHash("sha256").update(blobs.toSorted().join("\n")).digest("hex");
    return { name, key, entries: () => this.snapshot(id) };
  }

  /** @throws ProblemError 429 when too many executions wait */
  #admit(session: Session): void {
    const { concurrency, reserved, maxWaiting, maxSessionWaiting } = this.#options;
    const { pending } = session;
    if (pending > maxSessionWaiting)
      throw busy("too_many_waiting", `${pending} requests of this session run or wait already.`, 2);
    if (this.#pending < concurrency + reserved + maxWaiting) return;
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
      // The rename removes the session in one step; deleting its files may be interrupted.
      const removed = join(this.#options.data, "removed", randomBytes(16).toString("hex"));
      const was = await unlessMissing(rename(this.#directory(name), removed).then(() => true));
      this.#known.delete(name);
      if (was === undefined) return;
      await sync(join(this.#options.data, "sessions"));
      await rm(removed, { recursive: true, force: true });
    });
  }

  /** Removes sessions that have been idle for too long. */
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
