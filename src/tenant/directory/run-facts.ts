import type { RunQuery, RunTotals } from "../../contract/directory.ts";
import type { RunStatus } from "../../contract/run.ts";
import { addCosts } from "../../contract/usage/model-usage.ts";
import { addUsage, type TokenUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";

/** The properties of a run that lists filter, sort and add up, without its texts unless they are searched. */
export interface ListedRunFacts {
  status: RunStatus;
  created: number;
  team: string;
  id: string;
  turns: number;
  usage: TokenUsage;
  cost: number | null;
  /** From its start to its end, or to now. */
  seconds: number | null;
  ended: boolean;
  error: string | null;
  /** True if it called the model of the query. */
  called: boolean;
  searched: string;
}

type FactsRow = {
  created: number;
  team: string;
  id: string;
  turns: number;
  usage: string;
  cost: number | null;
  started: string | null;
  ended: string | null;
  error: string | null;
  called: number;
  searched: string | null;
};

type RunSortKey = readonly [created: number, team: string, id: string];

/** Reads the runs of one status in a range of places. Their metadata, which may be large, is not read. */
export function runFacts(
  db: Database,
  status: RunStatus,
  { from, before }: { from: RunSortKey; before: RunSortKey },
  { model, q, team_user }: Pick<RunQuery, "model" | "q" | "team_user">,
): ListedRunFacts[] {
  const now = Date.now();
  const rows = db.all<FactsRow>(
    `select created, team, id,
       record ->> '$.run.turns' as turns,
       record -> '$.run.usage' as usage,
       (select sum(value ->> '$.cost') from json_each(record, '$.run.models')) as cost,
       record ->> '$.run.started_at' as started,
       record ->> '$.run.ended_at' as ended,
       record ->> '$.run.error.type' as error,
       exists (select 1 from json_each(record, '$.run.models') where key = ?) as called,
       iif(?, concat_ws(char(10), id, team, record ->> '$.run.task', record ->> '$.run.answer.text',
         record ->> '$.run.error.message'), null) as searched
     from run where ${ofUser(team_user).condition}status = ? and (created, team, id) >= (?, ?, ?) and (created, team, id) < (?, ?, ?)`,
    model ?? null,
    q === undefined ? 0 : 1,
    ...ofUser(team_user).values,
    status,
    ...from,
    ...before,
  );
  return rows.map(({ usage, cost, started, ended, called, searched, ...row }) => ({
    ...row,
    status,
    usage: JSON.parse(usage) as TokenUsage,
    cost: addCosts(cost, null),
    seconds:
      started === null
        ? null
        : ((ended === null ? now : Date.parse(ended)) - Date.parse(started)) / 1000,
    ended: ended !== null,
    called: called === 1,
    searched: searched ?? "",
  }));
}

/** The condition that runs are of the teams of a user, which an index knows. */
export function ofUser(user: string | undefined): { condition: string; values: string[] } {
  if (user === undefined) return { condition: "", values: [] };
  return { condition: "record ->> '$.team_user' = ? and ", values: [user] };
}

export function matchesRun(
  run: ListedRunFacts,
  { team, model, error, min_cost, q }: Omit<RunQuery, "limit">,
): boolean {
  if (team !== undefined && run.team !== team) return false;
  if (model !== undefined && !run.called) return false;
  if (error !== undefined && run.error !== error) return false;
  if (min_cost !== undefined && (run.cost ?? 0) < min_cost) return false;
  return q === undefined || run.searched.toLowerCase().includes(q.toLowerCase());
}

/** Adds up runs. */
export function totalsOf(runs: readonly ListedRunFacts[]): Omit<RunTotals, "complete"> {
  const count = (status: RunStatus): number => runs.filter((run) => run.status === status).length;
  const durations = runs
    .flatMap(({ ended, seconds }) => (ended && seconds !== null ? [seconds] : []))
    .toSorted((one, other) => one - other);
  return {
    runs: runs.length,
    completed: count("completed"),
    failed: count("failed"),
    cancelled: count("cancelled"),
    turns: runs.reduce((sum, { turns }) => sum + turns, 0),
    ...runs
      .map(({ usage }) => usage)
      .reduce(addUsage, { prompt_tokens: 0, completion_tokens: 0 } satisfies TokenUsage),
    cost: runs.map(({ cost }) => cost).reduce(addCosts, null),
    seconds: Number(durations.reduce((sum, one) => sum + one, 0).toFixed(3)),
    p50_seconds: percentile(durations, 0.5),
    p95_seconds: percentile(durations, 0.95),
  };
}

/** The smallest value that at least this share of the values does not exceed. @param values in ascending order */
function percentile(values: readonly number[], share: number): number | null {
  return values[Math.max(0, Math.ceil(share * values.length) - 1)] ?? null;
}
