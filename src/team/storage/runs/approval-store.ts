import type { GivenApproval, StoredApproval } from "../../../contract/approval.ts";
import { type JsonObject, parseJson, sortedJson, withNumbers } from "../../../core/json.ts";
import type { JudgedQuestion } from "../../../core/turn/turn-context.ts";
import type { Database } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";

/** `run` is null for the whole team. */
const APPROVAL_TABLE = `(
  ordinal integer primary key, id text not null unique, run text, agent text not null, tool text not null,
  identity text not null, arguments text not null, given text not null, at integer not null, uses integer not null
)`;

/** Approvals that a team may have stored at a time. */
export const MOST_APPROVALS = 1_000;

/** Characters of the arguments of a stored approval. */
export const LONGEST_REMEMBERED = 64_000;

interface ApprovalRow extends Record<string, string | number | null> {
  ordinal: number;
  id: string;
  run: string | null;
  agent: string;
  tool: string;
  arguments: string;
  given: string;
  at: number;
  uses: number;
}

/** A call for which an approval is stored or sought. */
export interface RememberedCall {
  agent: string;
  judged: Pick<JudgedQuestion, "tool" | "identity" | "arguments">;
}

/** Approvals that count for equal calls of the same agent and tool. */
export class ApprovalStore {
  readonly #db: Database;
  readonly #table: LazyTable;

  constructor(db: Database) {
    this.#db = db;
    this.#table = new LazyTable(db, "approval", APPROVAL_TABLE);
  }

  get count(): number {
    if (!this.#table.exists) return 0;
    return this.#db.first<{ n: number }>("select count(*) as n from approval")?.n ?? 0;
  }

  add(
    { agent, judged }: RememberedCall,
    { run, by, at }: { run: string | null; by: readonly GivenApproval[]; at: number },
  ): void {
    this.#table.create();
    this.#db.write(
      "insert into approval values (null, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
      crypto.randomUUID(),
      run,
      agent,
      judged.tool,
      judged.identity,
      sortedJson(judged.arguments),
      JSON.stringify(by),
      at,
    );
  }

  /** Counts the use of an approval for a call of the run; undefined where none is stored. */
  use(run: string, { agent, judged }: RememberedCall): GivenApproval[] | undefined {
    if (!this.#table.exists) return undefined;
    const query = `select * from approval where agent = ? and tool = ? and identity = ? and arguments = ?
      and (run is null or run = ?) order by ordinal limit 1`;
    const { tool, identity } = judged;
    const args = sortedJson(judged.arguments);
    const found = this.#db.first<ApprovalRow>(query, agent, tool, identity, args, run);
    if (found === undefined) return undefined;
    this.#db.write("update approval set uses = uses + 1 where id = ?", found.id);
    return JSON.parse(found.given) as GivenApproval[];
  }

  /** Those of a run end with it. */
  endRun(run: string): void {
    if (this.#table.exists) this.#db.write("delete from approval where run = ?", run);
  }

  /** Returns whether there was one. */
  revoke(id: string): boolean {
    if (!this.#table.exists) return false;
    const known = this.#db.first("select 1 as n from approval where id = ?", id) !== undefined;
    if (known) this.#db.write("delete from approval where id = ?", id);
    return known;
  }

  /** Oldest first. @param after the ordinal of the last one of the page before */
  page(after: number, limit: number): { ordinal: number; approval: StoredApproval }[] {
    if (!this.#table.exists) return [];
    const query = "select * from approval where ordinal > ? order by ordinal limit ?";
    return this.#db
      .all<ApprovalRow>(query, after, limit)
      .map((row) => ({ ordinal: row.ordinal, approval: shown(row) }));
  }
}

function shown({
  id,
  run,
  agent,
  tool,
  arguments: args,
  given,
  at,
  uses,
}: ApprovalRow): StoredApproval {
  const by = (JSON.parse(given) as GivenApproval[]).map(({ subject }) => subject);
  return {
    id,
    agent,
    tool,
    arguments: withNumbers(parseJson(args) as JsonObject, String) as JsonObject,
    by,
    at: new Date(at).toISOString(),
    uses,
    run_id: run,
  };
}
