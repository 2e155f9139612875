import type { StepAhead } from "../../core/turn/turn-host.ts";
import type { Stores } from "../storage/stores.ts";
import type { ActiveRun } from "./active-run.ts";
import { isUnexplained } from "./recovery-budget.ts";
import { suspected } from "./run-state.ts";

/** The interval at which a suspect beside others checks for its turn, or another one's. */
const LOOK_MS = 50;

/** Code of its own that takes longer gives way to the next suspect. Loops and growing memory end a process well before. */
const LONGEST_TURN_MS = 30_000;

/** An object that has not looked for this time is gone: it was reset without the process. */
const GONE_MS = 5_000;

/** The suspects of this process, all objects of the isolate together, in the order in which they want to run. */
let line: Suspect[] = [];

export interface SuspectOptions {
  storage: DurableObjectStorage;
  stores: Stores;
  active: ActiveRun;
  /** True once the stretch of the run is over. */
  isOver: () => boolean;
}

/**
 * A run that was interrupted repeatedly without progress, until it makes progress. Its code or that of another run in the same
 * process may be the cause, so suspects run code of their own one at a time, and the run's record says whether the next
 * interruption counts against it. A suspect that only waits for another service lets the next one run.
 */
export class Suspect {
  readonly #options: SuspectOptions;
  /** Keeps its place while it waits: nothing but the run itself can be the cause then. */
  readonly #isAlone: boolean;
  /** Steps with a result when the stretch began. */
  readonly #finished: number;
  #lookedAt = 0;
  #wantsTurn = false;
  #hasTurn = false;
  #turnBegan = 0;
  #isCleared = false;
  /** True while a step is under way that waits for another service, and while one runs code of its own. */
  #waits = false;
  #runsOwnCode = false;
  #isWatching = false;
  /** Ends the wait of one that is alone. */
  #woken: (() => void) | undefined;

  constructor(options: SuspectOptions) {
    this.#options = options;
    this.#isAlone = isUnexplained(options.active.record);
    this.#finished = options.stores.steps.finished;
  }

  /** Resolves when the run may execute code of its own, which is stored then. */
  async enter(): Promise<void> {
    const { active, isOver } = this.#options;
    // A reset has left an instance of the same run behind.
    line = line.filter(
      (other) => other.#isPresent && other.#options.active.record.id !== active.record.id,
    );
    for (const other of line) other.#wake();
    line.push(this);
    this.#wantsTurn = true;
    this.#lookedAt = Date.now();
    // Its storage fails: the object is about to be reset.
    void this.#watch().catch(() => this.leave());
    if (!this.#isFirst) await this.#mark(false);
    while (!this.#isFirst) {
      await scheduler.wait(LOOK_MS);
      if (isOver()) {
        this.leave();
        return;
      }
    }
    this.#hasTurn = true;
    this.#turnBegan = Date.now();
    await this.#mark(true);
  }

  /** A step begins. Resolves when it is stored which one may be the cause of the next interruption. */
  begins({ key, subject, isRemote }: StepAhead): Promise<void> | undefined {
    if (isRemote) {
      this.#waits = true;
      return undefined;
    }
    const { active, isOver } = this.#options;
    if (this.#isCleared || isOver()) return undefined;
    this.#runsOwnCode = true;
    const step = { key, name: subject?.name ?? null };
    active.become(suspected(active.record, { step }));
    return this.#hasTurn ? this.#mark(true) : this.enter();
  }

  /**
   * A step has ended, and code of the run continues. Without the turn, the result is stored first: it is progress, and
   * code that ends the process at once would take it along while nothing counts against the run.
   */
  settled(): Promise<void> | undefined {
    if (this.#isCleared || this.#hasTurn || this.#options.isOver() || !this.#hasProgressed) {
      return undefined;
    }
    this.#options.stores.db.flush();
    this.leave();
    return this.#options.storage.sync();
  }

  /** It has made progress, or its stretch is over. */
  leave(): void {
    this.#isCleared = true;
    this.#hasTurn = false;
    line = line.filter((other) => other !== this);
    this.#wake();
  }

  get #hasProgressed(): boolean {
    return this.#options.stores.steps.finished > this.#finished;
  }

  /** True if its object still exists, as far as it is known. */
  get #isPresent(): boolean {
    return this.#woken !== undefined || this.#lookedAt > Date.now() - GONE_MS;
  }

  /**
   * True if its object was reset: the runtime then continues in the object that woke it, and refuses the storage of this
   * one.
   */
  get #isGone(): boolean {
    try {
      return this.#options.stores.db.size < 0;
    } catch {
      return true;
    }
  }

  get #others(): Suspect[] {
    return line.filter((other) => other !== this && other.#isPresent);
  }

  get #isFirst(): boolean {
    return line.find((one) => one === this || (one.#wantsTurn && one.#isPresent)) === this;
  }

  /** Looks as long as it is a suspect. Alone it waits without a timer, which would keep the object in memory. */
  async #watch(): Promise<void> {
    if (this.#isWatching) return;
    this.#isWatching = true;
    while (!this.#isCleared) {
      if (this.#others.length > 0) await scheduler.wait(LOOK_MS);
      else await new Promise<void>((woken) => (this.#woken = woken));
      if (this.#isGone) this.leave();
      else await this.#look();
    }
  }

  /** Called by another suspect, too. One that does not look soon is gone. */
  #wake(): void {
    const woken = this.#woken;
    if (woken === undefined) return;
    this.#woken = undefined;
    this.#lookedAt = Date.now();
    woken();
  }

  /** Gives way when another suspect may be the cause, or wants to run and this one takes long. */
  async #look(): Promise<void> {
    this.#lookedAt = Date.now();
    if (this.#hasProgressed || this.#options.isOver()) this.leave();
    // Another one has taken it for gone while the process stood still.
    if (!this.#isCleared && !line.includes(this)) line.push(this);
    if (!this.#hasTurn) return;
    const others = this.#others;
    const isWaiting = this.#waits && !this.#runsOwnCode;
    const isLong = Date.now() - this.#turnBegan > LONGEST_TURN_MS;
    const givesWay = isWaiting ? others.length > 0 : isLong && others.some((one) => one.#wantsTurn);
    if (this.#isFirst && (this.#isAlone || !givesWay)) return;
    this.#hasTurn = false;
    await this.#mark(false);
    if (!this.#hasTurn) this.#wantsTurn = false;
  }

  #mark(counts: boolean): Promise<void> {
    const { active, storage } = this.#options;
    active.store(suspected(active.record, { counts }));
    return storage.sync();
  }
}
