import type { TracedRun, TracedTurn } from "../../../telemetry/spans/run-spans.ts";
import {
  isInside,
  loadSpans,
  type TurnSpan,
  type TurnSpans,
} from "../../../telemetry/spans/stored-spans.ts";
import type { RunInView } from "./run-in-view.ts";
import { type Commit, commitAt, commitsAfter } from "../../storage/log/commits.ts";
import type { RunRecord, StoredRun } from "../../storage/runs/run-record.ts";
import type { Stores } from "../../storage/stores.ts";
import type { TurnFrame } from "../../../contract/stream/stream-frame.ts";
import type { NestedLedgers, TurnInfo, TurnLedgers, TurnSpeaker } from "../../../contract/turn.ts";
import {
  addCosts,
  addToUsage,
  type CostOf,
  NO_USAGE,
  type RunUsage,
  totalCost,
  UNNAMED_MODEL,
} from "../../../contract/usage/model-usage.ts";
import { taskLedgerIn, progressLedgerIn } from "../../../core/teams/magentic-one/stored-ledgers.ts";
import type { JsonObject } from "../../../core/json.ts";
import { addUsage } from "../../../core/models/request-usage.ts";

/** The facts for the spans around a run's turns. */
export function tracedRun(record: RunRecord): TracedRun {
  const { id, status, error, created_at, started_at, ended_at, trace } = record;
  return {
    id,
    status,
    error,
    created: Date.parse(created_at),
    started: started_at === null ? null : Date.parse(started_at),
    ended: ended_at === null ? null : Date.parse(ended_at),
    recoveries: (trace?.recoveries ?? []).map(([turn, since, at]) => ({ turn, since, at })),
  };
}

/**
 * The turn of a commit.
 *
 * @param before its first moment, epoch milliseconds, and the run's turn it was to be @param spans those that the commit has
 */
export function committedTurn(
  record: RunRecord,
  { turn, next, time, spans: stored }: Commit,
  before: { at: number; next: number },
  spans = loadSpans(stored, before.at),
): TracedTurn {
  return {
    // A run that is stopped while it waits commits the turn as it is, and has no next one.
    number: next === before.next ? next : next - 1,
    turn,
    start: notBefore(record, before.at),
    end: time.at,
    error: null,
    ...spans,
  };
}

/** The turn in which a run failed or was cancelled; undefined for one that ended between two turns. */
export function givenUpTurn(record: RunRecord): TracedTurn | undefined {
  const { last_turn, status, error, ended_at, next_turn, turn } = record;
  if (last_turn?.spans === undefined || ended_at === null) return undefined;
  return {
    number: next_turn,
    turn: turn + 1,
    start: notBefore(record, last_turn.started.at),
    end: Date.parse(ended_at),
    error: status === "failed" ? (error ?? {}) : { type: "cancelled" },
    ...loadSpans(last_turn.spans, last_turn.started.at),
  };
}

/** The turn in progress, as far as it has come. */
export function turnInProgress(active: RunInView): TracedTurn {
  return {
    number: active.turnOfRun,
    turn: active.turnOfTeam,
    start: notBefore(active.record, active.turnStarted.at),
    end: null,
    error: null,
    ...active.spans(),
  };
}

/** The finished turns of a run after a turn of the team, the first `limit`. */
export function* finishedTurns(
  { db, texts }: Pick<Stores, "db" | "texts">,
  { seq, record }: StoredRun,
  after: number,
  limit: number,
): Generator<TracedTurn, void, void> {
  // A run that has not started, or that a version without traces has started.
  if (record.trace === undefined || record.started_at === null) return;
  const first = Math.max(after, record.trace.after);
  const earlier = after > record.trace.after ? commitAt(db, texts, after) : undefined;
  let before =
    earlier === undefined
      ? { at: record.first_moment.at, next: record.first_turn }
      : { at: earlier.time.at, next: earlier.next };
  for (const commit of commitsAfter(db, texts, first, limit)) {
    if (commit.run !== seq) return;
    yield committedTurn(record, commit, before);
    before = { at: commit.time.at, next: commit.next };
  }
}

/** A retry begins in the middle of a turn, whose beginning belongs to the run before. */
function notBefore({ started_at, created_at }: RunRecord, at: number): number {
  return Math.max(at, Date.parse(started_at ?? created_at));
}

/** The parts of a turn besides its trace. */
interface TurnDetails {
  run: string | null;
  messageIds: readonly string[];
  ledgers: TurnLedgers | null;
  nested: readonly NestedLedgers[] | undefined;
}

/** A finished turn as the API shows it. */
export function shownTurn(
  { turn, start, end, spans }: TracedTurn,
  { run, messageIds, ledgers, nested = [] }: TurnDetails,
  costOf: CostOf,
): TurnInfo {
  const agents = speakers(spans, costOf);
  return {
    turn,
    run_id: run,
    started_at: new Date(start).toISOString(),
    ended_at: new Date(end ?? start).toISOString(),
    message_ids: [...messageIds],
    usage: spans.reduce(
      (sum, { tokens }) => (tokens ? addUsage(sum, tokens) : sum),
      NO_USAGE.usage,
    ),
    cost: agents.map(({ cost }) => cost).reduce(addCosts, null),
    agents,
    ledgers,
    nested_ledgers: [...nested],
  };
}

/**
 * The turn that the active run has in progress, once it is committed. Call it before the run moves on.
 *
 * @param state the team's visible state, after the turn
 */
export function frameOfTurn(
  active: RunInView,
  { commit, spans }: { commit: Commit; spans: TurnSpans },
  { messageIds, state }: { messageIds: readonly string[]; state: JsonObject },
  costOf: CostOf,
): TurnFrame {
  const { record, turnStarted, turnOfRun } = active;
  const before = { at: turnStarted.at, next: turnOfRun };
  const { usage, models = {}, nested } = commit;
  const rest = { run: record.id, messageIds, ledgers: ledgersIn(state), nested };
  return {
    ...shownTurn(committedTurn(record, commit, before, spans), rest, costOf),
    run: {
      id: record.id,
      turns: Math.max(0, commit.next - Math.max(1, record.first_turn)),
      turn: commit.turn,
      usage,
      cost: totalCost(models),
      models,
    },
  };
}

/** Null for a team whose manager has none. */
export function ledgersIn({ progress_ledger, task_ledger }: JsonObject): TurnLedgers | null {
  if (progress_ledger === undefined) return null;
  const progress = progressLedgerIn(progress_ledger);
  return progress
    ? { task_ledger: taskLedgerIn(task_ledger) ?? null, progress_ledger: progress }
    : null;
}

/** The agents that worked in a turn; null stands for the team's manager. */
function speakers(spans: readonly TurnSpan[], costOf: CostOf): TurnSpeaker[] {
  const scopes = spans.filter(({ kind }) => kind === "agent");
  const own = new Map<string | null, TurnSpan[]>();
  for (const span of spans) {
    const agent = span.kind === "agent" ? span.name : innermost(span, scopes);
    own.set(agent, [...(own.get(agent) ?? []), span]);
  }
  return [...own].map(([agent, parts]) => {
    const { models } = usageOf(parts, costOf);
    const thoughts = parts.flatMap(({ thought }) => thought ?? []);
    const start = Math.min(...parts.map((span) => span.start));
    const end = Math.max(...parts.map((span) => span.end ?? span.start));
    return {
      agent,
      duration_ms: end - start,
      thought_ms: thoughts.length === 0 ? null : thoughts.reduce((sum, ms) => sum + ms),
      models,
      cost: totalCost(models),
    };
  });
}

/** The name of the innermost agent around a span. */
function innermost(span: TurnSpan, scopes: readonly TurnSpan[]): string | null {
  const around = scopes.filter(({ path }) => isInside(span.path, path));
  return around.toSorted((a, b) => a.path.length - b.path.length).at(-1)?.name ?? null;
}

function usageOf(spans: readonly TurnSpan[], costOf: CostOf): RunUsage {
  return spans
    .filter(({ kind }) => kind === "model")
    .reduce(
      (sum, { name, tokens }) =>
        tokens === null ? sum : addToUsage(sum, { [name ?? UNNAMED_MODEL]: tokens }, costOf),
      NO_USAGE,
    );
}
