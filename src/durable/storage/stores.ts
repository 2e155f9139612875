import { Announcer } from "../outbox/announcer.ts";
import { OutboxStore } from "../outbox/outbox-store.ts";
import { TextStore } from "./text-store.ts";
import { Database } from "./database.ts";
import { EventLog } from "./event-log.ts";
import { MetaStore } from "./meta-store.ts";
import { QuestionStore } from "./runs/question-store.ts";
import { RunQueue } from "./runs/run-queue.ts";
import { RunStore } from "./runs/run-store.ts";
import { ResultCache } from "./runs/result-cache.ts";
import { ScheduleStore } from "../schedules/schedule-store.ts";
import { StepStore } from "./runs/step-store.ts";
import { TeamStore } from "./team-store.ts";

/** The stores of one team. Some keep a copy of their rows in memory. */
export class Stores {
  readonly db: Database;
  readonly texts: TextStore;
  readonly meta: MetaStore;
  readonly team: TeamStore;
  readonly queue: RunQueue;
  readonly runs: RunStore;
  readonly steps: StepStore;
  readonly questions: QuestionStore;
  readonly log: EventLog;
  readonly cache: ResultCache;
  readonly schedules: ScheduleStore;
  /** Undefined for a team that no tenant lists. */
  readonly outbox: OutboxStore | undefined;
  readonly announcer: Announcer;

  /** @param listed whether a tenant lists the team */
  constructor(storage: DurableObjectStorage, listed: boolean) {
    this.db = new Database(storage);
    this.texts = new TextStore(this.db);
    this.meta = new MetaStore(this.db, this.texts);
    this.team = new TeamStore(this.meta);
    this.queue = new RunQueue(this.db, this.texts);
    this.runs = new RunStore(this.db, this.texts, this.queue);
    this.steps = new StepStore(this.db, this.texts);
    this.outbox = listed ? new OutboxStore(this.db) : undefined;
    this.announcer = new Announcer(this);
    this.questions = new QuestionStore(this.db, this.texts, this.announcer);
    this.log = new EventLog(this.db, this.texts);
    this.cache = new ResultCache(this.db);
    this.schedules = new ScheduleStore(this.db, this.texts);
  }

  /**
   * Applies all changes or, when one throws, none; then copies in memory are dropped.
   *
   * @param undone called after changes that threw
   */
  transaction<T>(changes: () => T, undone?: () => void): T {
    try {
      return this.db.transaction(changes);
    } catch (error) {
      this.texts.forget();
      this.team.forget();
      this.queue.forget();
      this.steps.forget();
      this.questions.forget();
      this.log.forget();
      this.schedules.forget();
      this.outbox?.forget();
      this.announcer.forget();
      undone?.();
      throw error;
    }
  }
}
