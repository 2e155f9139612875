import type { Answer, Question } from "../../core/run/turn-context.ts";
import type { Moment } from "../../core/run/turn-host.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";

interface QuestionRow extends Record<string, string | number | null> {
  id: string;
  run: string;
  /** Empty when it is too big for a row: the column does not take null. */
  question: string;
  created_at: number;
  expires_at: number | null;
  ran: number;
  answer: string | null;
  answered_at: number | null;
}

/** A question as stored. Times are epoch milliseconds; `ran`: how long the run had been running when it asked. */
export interface StoredQuestion {
  question: Question;
  run: string;
  createdAt: number;
  expiresAt: number | null;
  answer: { value: Answer; text: string; time: Moment } | undefined;
}

/** What is shown has to be a date. */
const LATEST = Date.UTC(9999, 0);

/** Questions to humans, open and answered. */
export class QuestionStore {
  readonly #db: Database;
  readonly #bodies: Bodies;
  /** The open ones; those that were ever answered may be many. */
  #open: StoredQuestion[] | undefined;

  constructor(db: Database, bodies: Bodies) {
    this.#db = db;
    this.#bodies = bodies;
  }

  get(id: string): StoredQuestion | undefined {
    const row = this.#db.first<QuestionRow>("select * from question where id = ?", id);
    return row && this.#load(row);
  }

  /** Records a question that was not asked before. */
  ask(run: string, question: Question, now: Moment): void {
    const { timeout_seconds } = question;
    const expiresAt =
      timeout_seconds == null ? null : Math.min(LATEST, now.at + timeout_seconds * 1000);
    const open = this.#allOpen();
    this.#db.write(
      `insert into question
         values (?, (select coalesce(max(ordinal), 0) + 1 from question), ?, ?, ?, ?, ?, null, null)`,
      question.id,
      run,
      this.#bodies.store(owner(question.id), JSON.stringify(question)) ?? "",
      now.at,
      expiresAt,
      now.ran,
    );
    open.push({ question, run, createdAt: now.at, expiresAt, answer: undefined });
  }

  answer(id: string, answer: Answer, at: number): void {
    this.#db.write(
      "update question set answer = ?, answered_at = ? where id = ?",
      JSON.stringify(answer),
      at,
      id,
    );
    this.#open = this.#allOpen().filter(({ question }) => question.id !== id);
  }

  open(run: string): StoredQuestion[] {
    return this.#allOpen().filter((question) => question.run === run);
  }

  /** How many of the run's questions have an answer. */
  answered(run: string): number {
    const query = "select count(*) as n from question where run = ? and answer is not null";
    return this.#db.first<{ n: number }>(query, run)?.n ?? 0;
  }

  /** Nobody will look at an answer any more. */
  closeOpen(run: string): void {
    for (const { question } of this.open(run)) this.#remove(question.id);
    this.#open = this.#allOpen().filter((question) => question.run !== run);
  }

  /** What was approved counts for the component it was asked for: in another one a tool of that name may do anything. */
  withdrawApprovals(): void {
    // Nothing but an approval is too big for a row.
    const approvals = this.#db.all<{ id: string }>(
      "select id from question where case question when '' then 1 else question ->> 'kind' = 'approval' end",
    );
    for (const { id } of approvals) this.#remove(id);
    this.#open = undefined;
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#open = undefined;
  }

  #allOpen(): StoredQuestion[] {
    this.#open ??= this.#db
      .all<QuestionRow>("select * from question where answer is null order by ordinal")
      .map((row) => this.#load(row));
    return this.#open;
  }

  #load(row: QuestionRow): StoredQuestion {
    const text = this.#bodies.load(owner(row.id), row.question || null);
    return {
      question: JSON.parse(text) as Question,
      run: row.run,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      answer:
        row.answer === null
          ? undefined
          : {
              value: JSON.parse(row.answer) as Answer,
              text: row.answer,
              time: { at: row.answered_at ?? row.created_at, ran: row.ran },
            },
    };
  }

  #remove(id: string): void {
    this.#db.write("delete from question where id = ?", id);
    this.#bodies.remove(owner(id));
  }
}

/** What counts as the answer when nobody gave one in time. */
export function defaultAnswer({ kind, default_answer }: Question): Answer {
  if (default_answer != null) return default_answer;
  return kind === "approval"
    ? { approved: false, reason: "Nobody answered in time." }
    : { content: "" };
}

function owner(id: string): string {
  return `question:${id}`;
}
