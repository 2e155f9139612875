import { RESTARTED } from "../../../contract/constants.ts";
import {
  memoriesUndelivered,
  ok,
  refuse,
  type Refused,
  type Result,
  teamNotFound,
} from "../../../contract/result.ts";
import { NEWER_DATA, refuseUnusable } from "../../../contract/stored-data.ts";
import type { TenantLimits } from "../../../contract/tenant/tenant.ts";
import { errorMessage, stackOf } from "../../../core/errors.ts";
import type { Telemetry } from "../../../telemetry/telemetry.ts";
import { ForkTarget } from "../../fork/fork-target.ts";
import { migrateTables } from "../../../sqlite/table-versions.ts";
import { TEAM_TABLES } from "../../storage/tables/migrations.ts";
import { hasTables, holdsTeam } from "../../storage/tables/schema.ts";
import type { Stores } from "../../storage/stores.ts";
import { TeamAlarm } from "../../storage/team-alarm.ts";
import { loadParts, type TeamHost, type TeamParts } from "./team-parts.ts";

/** The alarm of data that cannot be used fires again after this time. */
const REFUSED_AGAIN_MS = 60_000;

/** The options by which a team uses its object and its deployment. */
export interface TeamHolderOptions extends Pick<
  TeamHost,
  "secrets" | "build" | "log" | "costOf" | "listing" | "env" | "memories"
> {
  ctx: DurableObjectState;
  /** Asked when a team is loaded. */
  limits: () => TenantLimits;
  idleMs: () => number;
  telemetry: () => Telemetry | undefined;
  /** Removes the data of a deleted team at external services. */
  releaseSession: (session: string) => Promise<void>;
}

/** The team in an object, or none: loads it, serializes its changes, wakes up for it, erases it. */
export class TeamHolder {
  readonly #options: TeamHolderOptions;
  #parts: TeamParts | undefined;
  /** Why what is stored cannot be used. */
  #refused: Refused | undefined;
  #alarm: TeamAlarm;
  /** Serializes changes of the team: no run starts in the middle of one. */
  readonly changes = new Mutex();

  constructor(options: TeamHolderOptions) {
    this.#options = options;
    this.#alarm = new TeamAlarm(options.ctx.storage);
    this.load();
  }

  /** Undefined as long as no team exists. */
  get parts(): TeamParts | undefined {
    return this.#parts;
  }

  with<T>(use: (parts: TeamParts) => Result<T>): Result<T> {
    return this.#parts ? use(flushed(this.#parts)) : this.#missing;
  }

  change<T>(change: (parts: TeamParts) => Result<T> | Promise<Result<T>>): Promise<Result<T>> {
    return this.changes.run(() => (this.#parts ? change(flushed(this.#parts)) : this.#missing));
  }

  /** A change of an object that may hold no team yet. */
  create<T>(create: () => Result<T> | Promise<Result<T>>): Promise<Result<T>> {
    return this.changes.run(() => this.#refused ?? create());
  }

  get #missing(): Refused {
    return this.#refused ?? teamNotFound();
  }

  /**
   * Loads the stored team, if there is one. Must not write anything for a team that does not exist. What cannot be used is
   * refused: the object must be there to delete it, and for its alarm.
   */
  load(): void {
    const { ctx, log } = this.#options;
    this.#alarm = new TeamAlarm(ctx.storage);
    try {
      this.#load();
    } catch (error) {
      this.#refused = refuseUnusable(error, { is: "team" });
      // Not in the constructor, as below.
      queueMicrotask(() => log({ event: "internal_error", error: stackOf(error) }, error));
    }
  }

  #load(): void {
    const { listing } = this.#options;
    const stores = listing.newStores();
    if (!hasTables(stores.db)) return;
    migrateTables(stores.db, TEAM_TABLES);
    if (holdsTeam(stores.db)) this.hold(stores);
    else listing.restore(this.#alarm);
  }

  /** Makes the parts of the team that the stores hold. */
  hold(stores: Stores): void {
    const { ctx, limits, idleMs, telemetry, ...host } = this.#options;
    const { storage } = ctx;
    this.#alarm = new TeamAlarm(storage);
    const parts = loadParts({
      ...host,
      storage,
      stores,
      alarm: this.#alarm,
      limits: limits(),
      idleMs: idleMs(),
      telemetry: telemetry(),
    });
    this.#parts = parts;
    // Not in the constructor: the fields of a subclass are not initialized yet.
    queueMicrotask(() => parts.engine.advance());
    const { scheduler, expiry, embeddings, words, remoteCancels, lateEnds } = parts;
    if (
      [scheduler, expiry, embeddings, words, remoteCancels, lateEnds].some(
        ({ dueAt }) => dueAt !== null,
      )
    ) {
      void this.#alarm.restore();
    }
    void scheduler.correct();
  }

  /** Sets the alarm for the part of the team that is due first. */
  setAlarm(): void {
    this.#alarm.set();
  }

  /**
   * Erases the team; must be called within a change. Refused while an object of memories cannot be reached that this team has
   * something for: what its runs have learned of users stays, and is nowhere else yet. A service that does not answer does not keep
   * the team: what its runs have left there ends by itself.
   */
  async erase({
    stores,
    outbox,
    memoryDelivery,
    remoteCancels,
    lateEnds,
    quota,
    engine,
    live,
  }: TeamParts): Promise<Result<null>> {
    const { ctx, listing, releaseSession } = this.#options;
    const { session } = stores.team;
    if (memoryDelivery !== undefined && stores.memoryOutbox.pending.length > 0) {
      await memoryDelivery.deliver();
      if (stores.memoryOutbox.pending.length > 0) return memoriesUndelivered();
    }
    engine.destroy();
    await remoteCancels.close();
    lateEnds.close();
    memoryDelivery?.close();
    stores.memory.entries.waiting.close();
    live.end();
    outbox?.close();
    quota.close();
    this.#parts = undefined;
    this.#alarm = new TeamAlarm(ctx.storage);
    await listing.bury(stores, this.#alarm);
    ctx.waitUntil(this.changes.run(() => listing.isFree()));
    const release = async (): Promise<void> => releaseSession(session);
    ctx.waitUntil(release().catch(() => undefined));
    return ok(null);
  }

  /** Erases what is stored without reading it: it cannot be read. Nothing is erased of a newer version. */
  async wipe(): Promise<Result<null>> {
    if (this.#refused?.problem.code === NEWER_DATA) return this.#refused;
    await this.#options.ctx.storage.deleteAll();
    this.#parts = undefined;
    this.#refused = undefined;
    return ok(null);
  }

  /** Has the next start of the object begin with its data of a moment. */
  async prepareRecovery(time: number): Promise<Result<null>> {
    const { storage } = this.#options.ctx;
    try {
      const bookmark = await storage.getBookmarkForTime(time);
      await storage.onNextSessionRestoreBookmark(bookmark);
      return ok(null);
    } catch (error) {
      return refuse(
        503,
        "recovery_unavailable",
        `The data of that moment cannot be restored: ${errorMessage(error)}. Only Cloudflare keeps them, for 30 days.`,
      );
    }
  }

  /** Ends the object, which starts again with the next request. */
  restart(): Promise<never> {
    this.#options.ctx.abort(RESTARTED);
    return new Promise(() => {});
  }

  forkTarget(): ForkTarget {
    const { ctx, listing } = this.#options;
    return new ForkTarget(ctx.storage, listing.newStores(), listing.tenantName);
  }

  /** Handles the object's alarm. */
  async alarm(): Promise<void> {
    const { listing } = this.#options;
    this.#alarm.fired();
    try {
      if (this.#parts) {
        const { engine, scheduler, embeddings, words, expiry, stateParts } = this.#parts;
        const { outbox, memoryDelivery, remoteCancels, lateEnds } = this.#parts;
        scheduler.watchClock();
        const due = scheduler.takeDue();
        const over = expiry.takeDue();
        engine.onAlarm();
        stateParts.onAlarm();
        embeddings.onAlarm();
        words.onAlarm();
        lateEnds.onAlarm();
        this.#alarm.set();
        await Promise.all([
          this.#runSchedules(due),
          outbox?.deliver(),
          memoryDelivery?.deliver(),
          remoteCancels.deliver(),
        ]);
        if (over) await this.#expire();
      } else if (this.#refused) {
        // The alarm belongs to the team, which continues with a version that can read it.
        await this.#options.ctx.storage.setAlarm(Date.now() + REFUSED_AGAIN_MS);
      } else if (listing.buried) {
        this.#alarm.set();
        await this.changes.run(() => listing.isFree());
      } else {
        await this.changes.run(() => this.forkTarget().onAlarm());
      }
    } catch {
      // The alarm is already set again; the runtime drops one that throws for good after six attempts.
    }
  }

  /** One after the other, each between other changes; one that fails is tried again by the next alarm. */
  async #runSchedules(due: readonly string[]): Promise<void> {
    for (const id of due) {
      const started = this.change(async ({ scheduler }) => ok(await scheduler.run(id)));
      await started.catch(() => undefined);
    }
  }

  /** Erases a team whose time is over, unless a run was started since the alarm was set. */
  #expire(): Promise<Result<null>> {
    return this.change((parts) => (parts.expiry.isOver ? this.erase(parts) : ok(null)));
  }
}

/** Flushes the delayed writes, so that no answer reveals changes that a crash could still lose. */
function flushed(parts: TeamParts): TeamParts {
  parts.stores.db.flush();
  return parts;
}

/** Runs tasks one after the other. A task that fails rejects for its caller and does not stop the next one. */
class Mutex {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => T | Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
