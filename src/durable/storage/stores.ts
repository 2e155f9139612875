import { Bodies } from "./bodies.ts";
import { Database } from "./database.ts";
import { EventLog } from "./event-log.ts";
import { MetaStore } from "./meta-store.ts";
import { QuestionStore } from "./question-store.ts";
import { RunStore } from "./run-store.ts";
import { ResultCache } from "./result-cache.ts";
import { StepStore } from "./step-store.ts";
import { TeamStore } from "./team-store.ts";

/** All that is stored of one team. Some of it is kept in memory as well, in step with the tables. */
export class Stores {
  readonly db: Database;
  readonly bodies: Bodies;
  readonly meta: MetaStore;
  readonly team: TeamStore;
  readonly runs: RunStore;
  readonly steps: StepStore;
  readonly questions: QuestionStore;
  readonly log: EventLog;
  readonly cache: ResultCache;

  constructor(storage: DurableObjectStorage) {
    this.db = new Database(storage);
    this.bodies = new Bodies(this.db);
    this.meta = new MetaStore(this.db, this.bodies);
    this.team = new TeamStore(this.meta);
    this.runs = new RunStore(this.db, this.bodies);
    this.steps = new StepStore(this.db, this.bodies);
    this.questions = new QuestionStore(this.db, this.bodies);
    this.log = new EventLog(this.db, this.bodies);
    this.cache = new ResultCache(this.db);
  }

  /** All of `changes` or, when it throws, nothing; then what is in memory is read again. */
  transaction<T>(changes: () => T): T {
    try {
      return this.db.transaction(changes);
    } catch (error) {
      this.team.forget();
      this.steps.forget();
      this.questions.forget();
      this.log.forget();
      throw error;
    }
  }
}
