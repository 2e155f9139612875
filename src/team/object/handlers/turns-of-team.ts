import { ok, type Result } from "../../../contract/result.ts";
import type { TurnInfo, TurnLedgers, TurnPage, TurnQuery } from "../../../contract/turn.ts";
import type { CostOf } from "../../../contract/usage/model-usage.ts";
import {
  progressLedgerIn,
  TASK_LEDGER,
  taskLedgerIn,
} from "../../../core/teams/magentic-one/stored-ledgers.ts";
import { isJsonObject } from "../../../core/json.ts";
import { committedTurn, shownTurn } from "../../engine/views/turn-report.ts";
import {
  type Commit,
  commitAt,
  type CommittedHead,
  headsAfter,
  readSnapshot,
  type Snapshot,
  turnsAround,
} from "../../storage/log/commits.ts";
import type { RunRecord } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";

interface Parts {
  stores: Stores;
  costOf: CostOf;
}

/** A page of the finished turns of a team. */
export function turnsOfTeam({ stores, costOf }: Parts, query: TurnQuery): Result<TurnPage> {
  const { db, texts, log } = stores;
  const { first, count, isEarlier, isLater } = turnsAround(db, query);
  const turns: TurnInfo[] = [];
  let before: Commit | undefined = commitAt(db, texts, first - 1);
  let run: { seq: number; record: RunRecord } | undefined;
  const ledgers = ledgerReader(stores);
  const ids = count === 0 ? [] : log.messageIds(before?.event ?? 0);
  let place = 0;
  for (const head of headsAfter(db, texts, first - 1, count)) {
    const { commit } = head;
    if (run?.seq !== commit.run) run = stores.runs.bySeq(commit.run);
    const messageIds: string[] = [];
    for (; (ids[place]?.seq ?? Infinity) <= commit.event; place++) {
      messageIds.push(ids[place]?.id ?? "");
    }
    turns.push(
      shownTurn(
        run === undefined ? unrun(commit) : tracedCommit(run, commit, before),
        {
          run: run?.record.id ?? null,
          // A loaded conversation and that of a fork were said in other turns.
          messageIds: run === undefined ? [] : messageIds,
          ledgers: ledgers(head),
          nested: commit.nested,
        },
        costOf,
      ),
    );
    before = commit;
  }
  const last = turns.at(-1)?.turn;
  return ok({
    turns,
    next_after: last !== undefined && isLater ? last : null,
    next_before: last !== undefined && isEarlier ? (turns[0]?.turn ?? null) : null,
  });
}

function tracedCommit(
  { seq, record }: { seq: number; record: RunRecord },
  commit: Commit,
  before: Commit | undefined,
): ReturnType<typeof committedTurn> {
  const start =
    before?.run === seq
      ? { at: before.time.at, next: before.next }
      : { at: record.first_moment.at, next: record.first_turn };
  return committedTurn(record, commit, start);
}

/** A reset, a loaded state or a new component. */
function unrun({ turn, time }: Commit): ReturnType<typeof committedTurn> {
  return { number: 0, turn, start: time.at, end: time.at, error: null, spans: [], dropped: 0 };
}

/** Reads the ledgers of one turn after the other; the task ledger only where it changes. */
function ledgerReader({ db, texts }: Stores): (head: CommittedHead) => TurnLedgers | null {
  let last: string | undefined;
  const [group = ""] = TASK_LEDGER.split("/");
  const isStoredAt = (turn: number): boolean =>
    db.first("select 1 from head where path = ? and turn = ?", group, turn) !== undefined;
  return ({ commit: { turn }, heads }) => {
    const own = heads[""];
    const progress = isJsonObject(own) ? progressLedgerIn(own["manager"]) : undefined;
    if (progress === undefined) return null;
    if (last !== undefined && !isStoredAt(turn)) {
      return { task_ledger: null, progress_ledger: progress };
    }
    const stored = readSnapshot<{ heads: Snapshot }>(db, texts, group, turn);
    const task = taskLedgerIn(stored?.heads[TASK_LEDGER]) ?? { facts: "", plan: "" };
    const isNew = JSON.stringify(task) !== last;
    last = JSON.stringify(task);
    return { task_ledger: isNew ? task : null, progress_ledger: progress };
  };
}
