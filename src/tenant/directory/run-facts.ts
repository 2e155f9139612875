import type { ListedRun, RunQuery, RunTotals } from "../../contract/directory.ts";
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
  /** The usage that totals add up: that of the model of the query, or of all models. */
  counted: TokenUsage & { cost: number | null };
  cost: number | null;
  /** From its start to its end, or to now. */
  seconds: number | null;
  /** Epoch milliseconds; null for an open run. */
  ended: number | null;
  error: string | null;
  /** True if it called the model of the query. */
  called: boolean;
  searched: string;
}

/** Totals of some runs, without what they leave out. */
export type SomeTotals = Omit<RunTotals, "open" | "complete" | "next_cursor">;

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
  of_model: string | null;
  searched: string | null;
};

type RunSortKey = readonly [created: number, team: string, id: string];

/** Reads the runs of one status in a range of places. Their metadata, which may be large, is not read. */
export function runFacts(
  db: Database,
  status: RunStatus,
  { from, before }: { from: RunSortKey; before: RunSortKey },
  query: Pick<RunQuery, "model" | "q" | "team_user">,
): ListedRunFacts[] {
  const { model, q, team_user } = query;
  const rows = db.all<FactsRow>(
    `select created, team, id,
       record ->> '$.run.turns' as turns,
       record -> '$.run.usage' as usage,
       (select sum(value ->> '$.cost') from json_each(record, '$.run.models')) as cost,
       record ->> '$.run.started_at' as started,
       record ->> '$.run.ended_at' as ended,
       record ->> '$.run.error.type' as error,
       (select value from json_each(record, '$.run.models') where key = ?) as of_model,
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
  return rows.map(({ created, team, id, turns, error, searched, ...row }) => {
    const cost = addCosts(row.cost, null);
    const counted = model === undefined ? { ...parsed(row.usage), cost } : parsed(row.of_model);
    const ended = row.ended === null ? null : Date.parse(row.ended);
    return {
      status,
      created,
      team,
      id,
      turns,
      cost,
      ended,
      error,
      counted: counted ?? NO_USAGE,
      seconds: secondsBetween(row.started, ended),
      called: counted !== null,
      searched: searched ?? "",
    };
  });
}

const NO_USAGE = { prompt_tokens: 0, completion_tokens: 0, cost: null };

type Usage = ListedRunFacts["counted"];

function parsed(json: string): Usage;
function parsed(json: string | null): Usage | null;
function parsed(json: string | null): Usage | null {
  return json === null ? null : (JSON.parse(json) as Usage);
}

/** The same of a run in memory. */
export function factsOf(run: ListedRun, { model }: Pick<RunQuery, "model">): ListedRunFacts {
  const { status, turns, cost, usage, models, error } = run;
  const called = model === undefined || Object.hasOwn(models, model);
  const ended = run.ended_at === null ? null : Date.parse(run.ended_at);
  const texts = [run.id, run.team_id, run.task, run.answer?.text, error?.message];
  return {
    status,
    turns,
    cost,
    ended,
    called,
    created: Date.parse(run.created_at),
    team: run.team_id,
    id: run.id,
    counted: model === undefined ? { ...usage, cost } : (called && models[model]) || NO_USAGE,
    seconds: secondsBetween(run.started_at, ended),
    error: error?.type ?? null,
    searched: texts.filter((text) => typeof text === "string").join("\n"),
  };
}

function secondsBetween(started: string | null, ended: number | null): number | null {
  return started === null ? null : ((ended ?? Date.now()) - Date.parse(started)) / 1000;
}

/** The condition that runs are of the teams of a user, which an index knows. */
export function ofUser(user: string | undefined): { condition: string; values: string[] } {
  if (user === undefined) return { condition: "", values: [] };
  return { condition: "record ->> '$.team_user' = ? and ", values: [user] };
}

/** True if the query has a range, in which only runs are that have ended. */
export function hasRange({ from, to }: Pick<RunQuery, "from" | "to">): boolean {
  return from !== undefined || to !== undefined;
}

/** Compares a run with the filters of a query, its range included. */
export function matchesRun(run: ListedRunFacts, query: Omit<RunQuery, "limit">): boolean {
  const { from = 0, to = Number.MAX_SAFE_INTEGER } = query;
  if (hasRange(query) && (run.ended === null || run.ended < from || run.ended > to)) return false;
  return matchesFilters(run, query);
}

/** Compares a run with the filters of a query, whenever it ended. */
export function matchesFilters(
  run: ListedRunFacts,
  { status, team, model, error, min_cost, since, q }: Omit<RunQuery, "limit">,
): boolean {
  if (status !== undefined && run.status !== status) return false;
  if (team !== undefined && run.team !== team) return false;
  if (model !== undefined && !run.called) return false;
  if (error !== undefined && run.error !== error) return false;
  if (min_cost !== undefined && (run.cost ?? 0) < min_cost) return false;
  if (since !== undefined && run.created < since) return false;
  return q === undefined || run.searched.toLowerCase().includes(q.toLowerCase());
}

/** Adds up runs. */
export function totalsOf(runs: readonly ListedRunFacts[]): SomeTotals {
  const count = (status: RunStatus): number => runs.filter((run) => run.status === status).length;
  const durations = runs
    .flatMap(({ ended, seconds }) => (ended !== null && seconds !== null ? [seconds] : []))
    .toSorted((one, other) => one - other);
  return {
    runs: runs.length,
    completed: count("completed"),
    failed: count("failed"),
    cancelled: count("cancelled"),
    turns: runs.reduce((sum, { turns }) => sum + turns, 0),
    ...runs
      .map(({ counted }) => counted)
      .reduce<TokenUsage>(addUsage, { prompt_tokens: 0, completion_tokens: 0 }),
    cost: runs.map(({ counted }) => counted.cost).reduce(addCosts, null),
    seconds: Number(durations.reduce((sum, one) => sum + one, 0).toFixed(3)),
    p50_seconds: percentile(durations, 0.5),
    p95_seconds: percentile(durations, 0.95),
  };
}

/** The smallest value that at least this share of the values does not exceed. @param values in ascending order */
function percentile(values: readonly number[], share: number): number | null {
  return values[Math.max(0, Math.ceil(share * values.length) - 1)] ?? null;
}
