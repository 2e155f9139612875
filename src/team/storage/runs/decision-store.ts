import type { Decision, GivenApproval } from "../../../contract/approval.ts";
import { type JsonObject, withNumbers } from "../../../core/json.ts";
import type { Matched } from "../../../core/rules/judge-call.ts";
import type { EarlierCalls } from "../../../core/rules/judge-call.ts";
import type { JudgedQuestion } from "../../../core/turn/turn-context.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { Database } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";

/** `outcome` and `at` are null while a human is asked. */
const DECISION_TABLE = `(
  ordinal integer primary key, id text not null unique, run text not null, agent text not null, tool text not null,
  identity text not null, outcome text, at integer, ran integer, record text
)`;

type Outcome = Decision["outcome"];

interface DecisionRow extends Record<string, string | number | null> {
  ordinal: number;
  id: string;
  agent: string;
  tool: string;
  identity: string;
  outcome: Outcome | null;
  at: number | null;
  ran: number | null;
  record: string | null;
}

type Facts = Pick<Decision, "step" | "arguments" | "rule" | "matched" | "by" | "request_id">;

/** A decision without a human, as a repeated turn finds it again. */
export interface DecidedAlone {
  by: readonly GivenApproval[];
  time: Moment;
}

/** The call that a decision is about. */
export interface DecidedCall {
  /** The id of its question, also where it is not asked. */
  id: string;
  run: string;
  agent: string;
  /** The path of the step. */
  step: string;
  judged: Pick<JudgedQuestion, "approval" | "tool" | "identity" | "arguments">;
  matched: readonly Matched[];
}

/** The place of a decision in the list of its run. */
export interface DecisionPlace {
  at: number;
  ordinal: number;
}

/** The decisions about calls that a rule is about, and those of humans about other calls. */
export class DecisionStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #table: LazyTable;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    this.#table = new LazyTable(db, "decision", DECISION_TABLE);
  }

  /** The decision that a call needs no human; undefined for others, and before it was made for this component. */
  alone(id: string, identity: string): DecidedAlone | undefined {
    const row = this.#row("select * from decision where id = ? and outcome = 'ran'", id);
    if (row?.identity !== identity) return undefined;
    return { by: this.#facts(row).by, time: { at: row.at ?? 0, ran: row.ran ?? 0 } };
  }

  /** The calls of a tool before one in these runs: a run, and those that it retries. */
  earlier(runs: readonly string[], { agent, judged }: DecidedCall): EarlierCalls {
    if (!this.#table.exists) return { count: 0, approved: false };
    const list = JSON.stringify(runs);
    const inRuns = "run in (select value from json_each(?))";
    const counted = `select count(*) as n from decision where ${inRuns} and tool = ?`;
    const count = this.#db.first<{ n: number }>(counted, list, judged.tool)?.n ?? 0;
    const sought = `select 1 as n from decision where ${inRuns} and tool = ? and agent = ? and identity = ?
      and outcome in ('ran', 'approved') limit 1`;
    const { tool, identity } = judged;
    const approved = this.#db.first(sought, list, tool, agent, identity) !== undefined;
    return { count, approved };
  }

  /** A call needs no human. @param by those who gave the stored approval that lets it run */
  ran(call: DecidedCall, by: readonly GivenApproval[], time: Moment): void {
    this.#insert(call, { by: [...by], request_id: null }, "ran", time);
  }

  /** A human is asked. The decision counts as an earlier call from now on. */
  asked(call: DecidedCall): void {
    this.#insert(call, { by: [], request_id: call.id }, null, null);
  }

  /** A human has decided, or the time for that is over. */
  settle(call: DecidedCall, by: readonly GivenApproval[], outcome: Outcome, time: Moment): void {
    this.#insert(call, { by: [...by], request_id: call.id }, outcome, time);
  }

  /** The question was withdrawn before an answer. */
  withdraw(id: string): void {
    if (this.#row("select * from decision where id = ? and outcome is null", id)) this.#remove(id);
  }

  /** Decisions of a run, oldest first. @param after the place of the last one of the page before */
  page(
    run: string,
    after: DecisionPlace,
    limit: number,
  ): (DecisionPlace & { decision: Decision })[] {
    if (!this.#table.exists) return [];
    const query = `select * from decision where run = ? and outcome is not null and (at, ordinal) > (?, ?)
      order by at, ordinal limit ?`;
    return this.#db
      .all<DecisionRow>(query, run, after.at, after.ordinal, limit)
      .map((row) => ({ at: row.at ?? 0, ordinal: row.ordinal, decision: this.#decision(row) }));
  }

  #decision(row: DecisionRow): Decision {
    const { agent, tool, outcome, at } = row;
    const facts = this.#facts(row);
    return {
      step: facts.step,
      agent,
      tool,
      arguments: facts.arguments,
      rule: facts.rule,
      matched: facts.matched,
      outcome: outcome ?? "expired",
      by: facts.by,
      request_id: facts.request_id,
      at: new Date(at ?? 0).toISOString(),
    };
  }

  #insert(
    { id, run, agent, step, judged, matched }: DecidedCall,
    given: Pick<Facts, "by" | "request_id">,
    outcome: Outcome | null,
    time: Moment | null,
  ): void {
    this.#table.create();
    this.#texts.remove(owner(id));
    const facts: Facts = {
      step,
      arguments: withNumbers(judged.arguments, String) as JsonObject,
      rule: judged.approval,
      matched: matched.map(shownMatch),
      ...given,
    };
    this.#db.write(
      "insert or replace into decision values (null, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      run,
      agent,
      judged.tool,
      judged.identity,
      outcome,
      time?.at ?? null,
      time?.ran ?? null,
      this.#texts.storeRemovable(owner(id), JSON.stringify(facts)),
    );
  }

  #facts({ id, record }: DecisionRow): Facts {
    return JSON.parse(this.#texts.load(owner(id), record)) as Facts;
  }

  #row(query: string, id: string): DecisionRow | undefined {
    return this.#table.exists ? this.#db.first<DecisionRow>(query, id) : undefined;
  }

  #remove(id: string): void {
    this.#db.write("delete from decision where id = ?", id);
    this.#texts.remove(owner(id));
  }
}

/** A number that JavaScript would change is shown as a text, as in the arguments of the call. */
export function shownMatch({ condition, value }: Matched): Decision["matched"][number] {
  const shown = withNumbers({ value }, String) as JsonObject;
  return { condition, value: shown["value"] ?? null };
}

function owner(id: string): string {
  return `decision:${id}`;
}
