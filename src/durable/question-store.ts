import type { HumanRequest } from "../core/run/gateway.ts";
import type { Answer, Question } from "../core/run/turn-context.ts";
import type { Moment } from "../core/run/turn-host.ts";
import type { Database } from "./database.ts";

interface QuestionRow extends Record<string, string | number | null> {
  id: string;
  run: string;
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

/** Questions to humans, open and answered. */
export class QuestionStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(id: string): StoredQuestion | undefined {
    const row = this.#db.first<QuestionRow>("select * from question where id = ?", id);
    return row && load(row);
  }

  /** Records a question. Asking again, after a restart, changes nothing. */
  ask(run: string, question: Question, now: Moment): void {
    const { timeout_seconds } = question;
    this.#db.write(
      `insert into question
         values (?, (select coalesce(max(ordinal), 0) + 1 from question), ?, ?, ?, ?, ?, null, null)
         on conflict (id) do update set run = excluded.run`,
      question.id,
      run,
      JSON.stringify(question),
      now.at,
      timeout_seconds == null ? null : now.at + timeout_seconds * 1000,
      now.ran,
    );
  }

  answer(id: string, answer: Answer, at: number): void {
    this.#db.write(
      "update question set answer = ?, answered_at = ? where id = ?",
      JSON.stringify(answer),
      at,
      id,
    );
  }

  open(run: string): StoredQuestion[] {
    return this.#db
      .all<QuestionRow>(
        "select * from question where run = ? and answer is null order by ordinal",
        run,
      )
      .map(load);
  }

  /** The run is over: nobody will look at an answer any more. */
  closeOpen(run: string): void {
    this.#db.write("delete from question where run = ? and answer is null", run);
  }
}

/** An open question as the API shows it. */
export function humanRequest({ question, createdAt, expiresAt }: StoredQuestion): HumanRequest {
  const { timeout_seconds: _timeout, default_answer: _default, ...shown } = question;
  return {
    ...shown,
    created_at: new Date(createdAt).toISOString(),
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** What counts as the answer when nobody gave one in time. */
export function defaultAnswer({ kind, default_answer }: Question): Answer {
  if (default_answer != null) return default_answer;
  return kind === "approval"
    ? { approved: false, reason: "Nobody answered in time." }
    : { content: "" };
}

function load(row: QuestionRow): StoredQuestion {
  return {
    question: JSON.parse(row.question) as Question,
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
