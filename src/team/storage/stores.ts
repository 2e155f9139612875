import { Announcer } from "./outbox/announcer.ts";
import { OutboxStore } from "./outbox/outbox.ts";
import { TextStore } from "../../sqlite/text-store.ts";
import { Database } from "../../sqlite/database.ts";
import { CommitStore } from "./log/commits.ts";
import { EventLog } from "./log/event-log.ts";
import { MetaStore } from "./tables/meta-store.ts";
import { KnownResults } from "./log/kept-steps.ts";
import { ApprovalStore } from "./runs/approval-store.ts";
import { DecisionStore } from "./runs/decision-store.ts";
import { QuestionStore } from "./runs/question-store.ts";
import { RunQueue } from "./runs/run-queue.ts";
import { isOver, RunStore } from "./runs/run-store.ts";
import { ScheduleStore } from "./schedule-store.ts";
import { type SentIn, SteeringStore } from "./runs/steering-store.ts";
import { StepStore } from "./runs/step-store.ts";
import { TeamStore } from "./tables/team-store.ts";
import { VersionStore } from "./tables/version-store.ts";
import { BoardStore } from "./board-store.ts";
import { MemoryOutbox } from "./outbox/memory-outbox.ts";
import { RemoteWorkStore } from "./outbox/remote-work-store.ts";
import { UnfinishedStore } from "./outbox/unfinished-store.ts";
import { TeamMemory } from "./team-memory.ts";
import type { StepCache } from "../../core/steps/step-attempt.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";

/** The stores of one team. Some keep a copy of their rows in memory. */
export class Stores {
  readonly db: Database;
  readonly texts: TextStore;
  readonly meta: MetaStore;
  readonly team: TeamStore;
  readonly versions: VersionStore;
  readonly queue: RunQueue;
  readonly runs: RunStore;
  readonly steps: StepStore;
  readonly knownResults = new KnownResults();
  readonly questions: QuestionStore;
  readonly steering: SteeringStore;
  readonly decisions: DecisionStore;
  readonly approvals: ApprovalStore;
  readonly log: EventLog;
  readonly commits: CommitStore;
  readonly cache: ResultCache;
  readonly schedules: ScheduleStore;
  readonly board: BoardStore;
  readonly memory: TeamMemory;
  readonly memoryOutbox: MemoryOutbox;
  readonly remoteWork: RemoteWorkStore;
  readonly unfinished: UnfinishedStore;
  /** Undefined for a team that no tenant lists. */
  readonly outbox: OutboxStore | undefined;
  readonly announcer: Announcer;

  /** @param listed whether a tenant lists the team */
  constructor(storage: DurableObjectStorage, listed: boolean) {
    this.db = new Database(storage);
    this.texts = new TextStore(this.db);
    this.meta = new MetaStore(this.db, this.texts);
    this.team = new TeamStore(this.meta);
    this.versions = new VersionStore(this.db, this.meta, this.team);
    this.queue = new RunQueue(this.db, this.texts);
    this.runs = new RunStore(this.db, this.texts, this.queue);
    this.steps = new StepStore(this.db, this.texts);
    this.outbox = listed ? new OutboxStore(this.db) : undefined;
    this.announcer = new Announcer(this);
    this.steering = new SteeringStore(this.db, this.texts);
    this.decisions = new DecisionStore(this.db, this.texts);
    this.approvals = new ApprovalStore(this.db);
    this.questions = new QuestionStore(this.db, this.texts, this.announcer, this.decisions);
    this.log = new EventLog(this.db, this.texts);
    this.commits = new CommitStore(this.db, this.texts);
    this.cache = new ResultCache(this.db);
    this.board = new BoardStore(this.db);
    this.schedules = new ScheduleStore(this.db, this.texts);
    this.memory = new TeamMemory(this.db, this.texts);
    this.memoryOutbox = new MemoryOutbox(this.db, this.texts);
    this.remoteWork = new RemoteWorkStore(this.meta);
    this.unfinished = new UnfinishedStore(this.meta);
    const { team, commits, runs, queue, steps, knownResults, questions, log, schedules } = this;
    const { memory, memoryOutbox, remoteWork, unfinished, outbox, announcer } = this;
    const ofRuns = [team, commits, runs, queue, steps, knownResults, questions, log, schedules];
    const others = [this.steering, memory, memoryOutbox, remoteWork, unfinished, outbox, announcer];
    for (const store of [...ofRuns, ...others]) {
      this.db.onForget(() => store?.forget());
    }
  }
}

/** The messages into runs that have ended, of which no commit has them: the next run reads them first. */
export function sentToEndedRuns({ runs, queue, steering }: Stores): readonly SentIn[] {
  if (steering.all.length === 0) return [];
  const last = runs.last()?.record;
  const active = last === undefined || isOver(last) ? undefined : last.id;
  return steering.all.filter(({ run }) => run !== active && queue.position(run) === null);
}

const EVICT = "delete from cache where seq <= (select max(seq) from cache) - ?";

/** The team's cache of model results. Evicts by age, not by use: recording a use would write a row per read. */
class ResultCache implements StepCache {
  readonly #db: Database;
  readonly #table: LazyTable;

  constructor(db: Database) {
    this.#db = db;
    const columns = "seq integer primary key, key text not null unique, value text not null";
    this.#table = new LazyTable(db, "cache", `(${columns})`);
  }

  get(key: string): string | undefined {
    if (!this.#table.exists) return undefined;
    return this.#db.first<{ value: string }>("select value from cache where key = ?", key)?.value;
  }

  /** Writes to the cache without reading it: a call that is repeated after a failure must not get the same answer. */
  renewing(): StepCache {
    return { get: () => undefined, set: (...entry) => this.set(...entry) };
  }

  /** The row is written with the next statement, together with the step whose result it caches. */
  set(key: string, value: string, maxEntries: number): void {
    const db = this.#db;
    const writtenKey = (): string => {
      this.#table.create();
      return key;
    };
    const insert = "insert or replace into cache (key, value) values (?, ?)";
    db.writeLater("cache", insert, writtenKey, value);
    db.writeLater("cache", EVICT, maxEntries);
  }
}
