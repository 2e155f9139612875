import { parseJson } from "../../../core/json.ts";
import type { Answer, Question } from "../../../core/turn/turn-context.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";
import type { Database, SqlValue } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import type { Decision } from "../../../contract/approval.ts";
import type { DecisionStore } from "./decision-store.ts";
import {
  decidedCall,
  type FoundAtAsking,
  givenOf,
  type JudgedRecord,
  type QuestionRecord,
  readRecord,
  recordOf,
} from "./question-record.ts";

const QUESTION_TABLE = `(
  id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null,
  expires_at integer, ran integer not null, answer text, answered_at integer, answered_by text
) without rowid`;

interface QuestionRow extends Record<string, string | number | null> {
  id: string;
  ordinal: number;
  run: string;
  /** Empty when it is too large for a row, because the column does not take null. */
  question: string;
  created_at: number;
  expires_at: number | null;
  ran: number;
  /** Null before the answer; also empty when it is too large for a row. */
  answer: string | null;
  answered_at: number | null;
  /** As {@link EXPIRED}, or the name of the credential; null for one without a name, and in earlier versions. */
  answered_by: string | null;
}

/** Stands for the name of a credential where the default answer counts. */
const EXPIRED = "";

/** A stored question. Times are epoch milliseconds; `ran`: how long the run had been running when it asked. */
export interface StoredQuestion {
  question: QuestionRecord;
  run: string;
  createdAt: number;
  expiresAt: number | null;
  answer:
    | { value: Answer; text: string; time: Moment; by: string | null; expired: boolean }
    | undefined;
}

/** Expiry times are shown as dates, which end here. */
const LATEST = Date.UTC(9999, 0);

/** Observes which questions are open. */
export interface QuestionListener {
  asked(question: StoredQuestion): void;
  /** The question was answered or removed. */
  closed(question: StoredQuestion): void;
}

/** Questions to humans, open and answered. They outlive their turn, so that a repeated answer is recognized. */
export class QuestionStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #listener: QuestionListener;
  readonly #decisions: DecisionStore;
  readonly #table: LazyTable;
  /** Only the open ones are kept in memory: answered ones accumulate. */
  #open: StoredQuestion[] | undefined;

  constructor(
    db: Database,
    texts: TextStore,
    listener: QuestionListener,
    decisions: DecisionStore,
  ) {
    this.#db = db;
    this.#texts = texts;
    this.#listener = listener;
    this.#decisions = decisions;
    this.#table = new LazyTable(db, "question", QUESTION_TABLE);
  }

  get(id: string): StoredQuestion | undefined {
    const [found] = this.#rows("id = ?", id);
    return found;
  }

  /** Records a new question. @param found by the rule of the call that it is about */
  ask(run: string, asking: Question, now: Moment, found?: FoundAtAsking): void {
    const question = recordOf(asking, found);
    const { timeout_seconds } = question;
    const expiresAt =
      timeout_seconds == null ? null : Math.min(LATEST, now.at + timeout_seconds * 1000);
    const open = this.#allOpen();
    this.#table.create();
    this.#db.write(
      `insert into question
         values (?, (select coalesce(max(ordinal), 0) + 1 from question), ?, ?, ?, ?, ?, null, null, null)`,
      question.id,
      run,
      this.#texts.storeRemovable(owner(question.id), JSON.stringify(question)) ?? "",
      now.at,
      expiresAt,
      now.ran,
    );
    const asked = { question, run, createdAt: now.at, expiresAt, answer: undefined };
    if (question.judged && question.judged.approval !== "human") {
      this.#decisions.asked(decidedCall(asked, question.judged));
    }
    open.push(asked);
    this.#listener.asked(asked);
  }

  /** Stores what has changed of an open question, such as who has approved. */
  change({ question }: StoredQuestion, changed: QuestionRecord): StoredQuestion | undefined {
    const { id } = question;
    this.#texts.remove(owner(id));
    const text = this.#texts.storeRemovable(owner(id), JSON.stringify(changed)) ?? "";
    this.#db.write("update question set question = ? where id = ?", text, id);
    this.#open = this.#allOpen().map((one) =>
      one.question.id === id ? { ...one, question: changed } : one,
    );
    return this.get(id);
  }

  /** @param by the name of the credential that answers, if it has one */
  answer(id: string, answer: Answer, by: string | null): void {
    const asked = this.get(id);
    this.#db.write(
      "update question set answer = ?, answered_at = ?, answered_by = ? where id = ?",
      this.#texts.storeRemovable(answerOwner(id), JSON.stringify(answer)) ?? "",
      Date.now(),
      by,
      id,
    );
    const open = this.#allOpen();
    for (const one of open) if (one.question.id === id) this.#listener.closed(one);
    this.#open = open.filter(({ question }) => question.id !== id);
    if (asked?.question.judged) this.#settle(asked, asked.question.judged, answer, by);
  }

  #settle(asked: StoredQuestion, judged: JudgedRecord, answer: Answer, by: string | null): void {
    const decided = "approved" in answer && answer.approved ? "approved" : "refused";
    const outcome: Decision["outcome"] = by === EXPIRED ? "expired" : decided;
    const given = judged.approvals.map(givenOf);
    this.#decisions.settle(decidedCall(asked, judged), given, outcome, {
      at: Date.now(),
      ran: 0,
    });
  }

  /** The answer that applies when a question expires. */
  answerByDefault({ question: { id, kind, default_answer } }: StoredQuestion): void {
    const otherwise: Answer =
      kind === "approval"
        ? { approved: false, reason: "Nobody answered in time." }
        : { content: "" };
    this.answer(id, default_answer ?? otherwise, EXPIRED);
  }

  open(run: string): StoredQuestion[] {
    return this.#allOpen().filter((question) => question.run === run);
  }

  /** The number of the run's questions that were answered. */
  answered(run: string): number {
    if (!this.#table.exists) return 0;
    const query = "select count(*) as n from question where run = ? and answer is not null";
    return this.#db.first<{ n: number }>(query, run)?.n ?? 0;
  }

  /** The run's questions since a time in epoch milliseconds, answered or not. */
  since(run: string, at: number): StoredQuestion[] {
    return this.#rows("run = ? and created_at >= ?", run, at);
  }

  /** Removes the run's open questions: an answer would no longer have an effect. */
  closeOpen(run: string): void {
    for (const one of this.open(run)) {
      this.#remove(one.question.id);
      this.#decisions.withdraw(one.question.id);
      this.#listener.closed(one);
    }
    this.#open = this.#allOpen().filter((question) => question.run !== run);
  }

  /** An approval is valid for its component alone: in another one a tool of the same name may do anything. */
  withdrawApprovals(): void {
    if (!this.#table.exists) return;
    for (const row of this.#db.each<QuestionRow>(
      "select * from question where ordinal > ? order by ordinal",
      [0],
      ({ ordinal }) => [ordinal],
    )) {
      if (this.#load(row).question.kind === "approval") this.#remove(row.id);
    }
    this.#open = undefined;
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#open = undefined;
  }

  #allOpen(): StoredQuestion[] {
    this.#open ??= this.#rows("answer is null");
    return this.#open;
  }

  /** @param where one of the constant conditions above */
  #rows(where: string, ...bindings: SqlValue[]): StoredQuestion[] {
    if (!this.#table.exists) return [];
    const query = `select * from question where ${where} order by ordinal`;
    return this.#db.all<QuestionRow>(query, ...bindings).map((row) => this.#load(row));
  }

  #load(row: QuestionRow): StoredQuestion {
    const text = this.#texts.load(owner(row.id), row.question || null);
    const answer =
      row.answer === null ? null : this.#texts.load(answerOwner(row.id), row.answer || null);
    return {
      question: readRecord(text),
      run: row.run,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      answer:
        answer === null
          ? undefined
          : {
              value: parseJson(answer) as Answer,
              text: answer,
              time: { at: row.answered_at ?? row.created_at, ran: row.ran },
              by: row.answered_by || null,
              expired: row.answered_by === EXPIRED,
            },
    };
  }

  #remove(id: string): void {
    this.#db.write("delete from question where id = ?", id);
    this.#texts.remove(owner(id));
    this.#texts.remove(answerOwner(id));
  }
}

function answerOwner(id: string): string {
  return `answer:${id}`;
}

function owner(id: string): string {
  return `question:${id}`;
}
