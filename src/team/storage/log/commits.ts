import type { NestedLedgers, TurnQuery } from "../../../contract/turn.ts";
import type { UsageByModel } from "../../../contract/usage/usage-schemas.ts";
import type { RequestUsage } from "../../../core/models/request-usage.ts";
import type { StoredSpans } from "../../../telemetry/spans/stored-spans.ts";
import type { Moment } from "../../../core/turn/turn-host.ts";
import type { Database } from "../../../sqlite/database.ts";
import type { RunStore } from "../runs/run-store.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";
import type { Json } from "../../../core/json.ts";

/** The position of the team after a commit. Stored in the team's own snapshot, so it costs no row. */
export interface Commit {
  /** Turns of the team's whole life, over all runs, resets and loaded states. */
  turn: number;
  /** Row of the run that made it, 0 for a reset or a loaded state. */
  run: number;
  /** The run's next turn. */
  next: number;
  time: Moment;
  /** The run's tokens so far. */
  usage: RequestUsage;
  /** The run's tokens by model. Missing in commits of versions that did not count by model. */
  models?: UsageByModel;
  /** The spans of the turn, with times relative to its start. */
  spans?: StoredSpans;
  /** The ledgers of teams inside participants, round by round. */
  nested?: readonly NestedLedgers[];
  /** The last event before the next turn's. */
  event: number;
  /** The last event before the conversation's first: a reset or a loaded state started a new conversation. */
  since: number;
  /** True if the team is unchanged since a reset. */
  empty: boolean;
  /** True if its state is that of a cancelled run, copied by a fork or kept for another component. */
  cancelled?: boolean;
}

/** Writes commits. The last one stays in memory: each run begins there. */
export class CommitStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  /** Null for a team without any; undefined as long as it was not read. */
  #last: Commit | null | undefined;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
  }

  /** The last commit; undefined before the first. */
  get last(): Commit | undefined {
    if (this.#last === undefined) {
      this.#last = commitAt(this.#db, this.#texts, Number.MAX_SAFE_INTEGER) ?? null;
    }
    return this.#last ?? undefined;
  }

  /** The last finished turn, 0 before the first. */
  get turn(): number {
    return this.last?.turn ?? 0;
  }

  /** Writes a commit with the snapshots that have changed, by their participants, and with the steps of the turn. */
  write(commit: Commit, changed: ReadonlyMap<string, Snapshot>, steps: string | undefined): void {
    const { turn } = commit;
    for (const [group, heads] of changed) {
      const isOwn = group === "";
      this.#db.write(
        "insert into head values (?, ?, ?, ?)",
        group,
        turn,
        this.#texts.store(
          snapshotOwner(group, turn),
          JSON.stringify(isOwn ? { commit, heads } : { heads }),
        ),
        // Empty when they are too large for the column.
        isOwn && steps !== undefined ? (this.#texts.store(stepsOwner(turn), steps) ?? "") : null,
      );
    }
    this.#last = commit;
  }

  /** Drops the copy in memory: a transaction has failed, or others have written commits. */
  forget(): void {
    this.#last = undefined;
  }
}

/** The last commit up to a turn. */
export function commitAt(db: Database, texts: TextStore, turn: number): Commit | undefined {
  return readSnapshot<{ commit: Commit }>(db, texts, "", turn)?.commit;
}

/**
 * True if a run was cancelled at the last commit up to a turn. Its conditions and counters are over then, unless a
 * retry continues the run.
 */
export function standsAtCancellation(
  { db, texts, runs }: { db: Database; texts: TextStore; runs: RunStore },
  turn = Number.MAX_SAFE_INTEGER,
): boolean {
  const commit = commitAt(db, texts, turn);
  return commit !== undefined && (commit.cancelled === true || runs.wasCancelledAt(commit.turn));
}

/** The commits after a turn, oldest first, at most `limit`. */
export function* commitsAfter(
  db: Database,
  texts: TextStore,
  turn: number,
  limit: number,
): Iterable<Commit> {
  for (const { commit } of headsAfter(db, texts, turn, limit)) yield commit;
}

/** A commit and the team's own state as of it, by paths. */
export interface CommittedHead {
  commit: Commit;
  heads: Snapshot;
}

/** The commits after a turn, each with the team's state. */
export function* headsAfter(
  db: Database,
  texts: TextStore,
  turn: number,
  limit: number,
): Iterable<CommittedHead> {
  for (const head of db.all<{ turn: number; body: string | null }>(
    "select turn, body from head where path = '' and turn > ? order by turn limit ?",
    turn,
    limit,
  )) {
    const body = texts.load(snapshotOwner("", head.turn), head.body);
    yield JSON.parse(body) as CommittedHead;
  }
}

/** The turns of a page: how many commits there are from the turn `first` on, and whether there are others around them. */
export function turnsAround(
  db: Database,
  { after, before, limit }: TurnQuery,
): { first: number; count: number; isEarlier: boolean; isLater: boolean } {
  const turns = (where: string, bound: number, order: "asc" | "desc"): number[] =>
    db
      .all<{ turn: number }>(
        `select turn from head where path = '' and turn ${where} ? order by turn ${order} limit ?`,
        bound,
        limit + 1,
      )
      .map(({ turn }) => turn);
  const backwards = after === undefined && before !== undefined;
  const bound = backwards ? before : (after ?? 0);
  const found = backwards ? turns("<", bound, "desc") : turns(">", bound, "asc");
  const more = found.length > limit;
  const visible = found.slice(0, limit);
  const ordered = backwards ? visible.toReversed() : visible;
  const first = ordered[0] ?? bound + 1;
  const last = ordered.at(-1) ?? bound;
  return {
    first,
    count: ordered.length,
    isEarlier: backwards ? more : turns("<", first, "desc").length > 0,
    isLater: backwards ? turns(">", last, "asc").length > 0 : more,
  };
}

/** Detaches the last commit from its run: a fork's run belongs to the team it was forked from. */
export function disownLastCommit(
  db: Database,
  texts: TextStore,
  { turn, event, cancelled }: Pick<Commit, "turn" | "event" | "cancelled">,
): void {
  const stored = readSnapshot<{ commit: Commit; heads: Snapshot }>(db, texts, "");
  if (stored === undefined) return;
  const commit: Commit = {
    turn,
    run: 0,
    next: 0,
    time: { at: stored.commit.time.at, ran: 0 },
    usage: { prompt_tokens: 0, completion_tokens: 0 },
    ...(stored.commit.nested && { nested: stored.commit.nested }),
    event,
    since: 0,
    empty: stored.commit.empty,
    ...(cancelled && { cancelled }),
  };
  texts.remove(snapshotOwner("", turn));
  const body = texts.store(snapshotOwner("", turn), JSON.stringify({ ...stored, commit }));
  db.write("update head set body = ? where path = '' and turn = ?", body, turn);
}

/**
 * The small state (counters, speaker index, tool state) of one of the root's participants, by the paths of its parts.
 * Logs, which grow, are stored elsewhere.
 */
export type Snapshot = { [path: string]: Json };

/** The stored state of a participant (`group`; "" for the team itself) as of a turn. */
export function readSnapshot<T>(
  db: Database,
  texts: TextStore,
  group: string,
  turn = Number.MAX_SAFE_INTEGER,
): T | undefined {
  const row = db.first<{ turn: number; body: string | null }>(
    "select turn, body from head where path = ? and turn <= ? order by turn desc limit 1",
    group,
    turn,
  );
  return row && (JSON.parse(texts.load(snapshotOwner(group, row.turn), row.body)) as T);
}

/** The steps of a finished turn; undefined where none were kept. */
export function readSteps(db: Database, texts: TextStore, turn: number): string | undefined {
  const query = "select steps from head where path = '' and turn = ?";
  const column = db.first<{ steps: string | null }>(query, turn)?.steps ?? null;
  return column === null ? undefined : texts.load(stepsOwner(turn), column || null);
}

function stepsOwner(turn: number): string {
  return `steps:${turn}`;
}

export function snapshotOwner(group: string, turn: number): string {
  return `head:${group}:${turn}`;
}
