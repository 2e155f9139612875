import type {
  ConversationRunList,
  ConversationRunQuery,
  ListedRun,
  RunList,
  RunQuery,
  RunTotals,
} from "../../contract/directory.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { RunStatus } from "../../contract/run.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "./cursor.ts";
import { OPEN_STATUSES, readRunRow } from "./open-runs.ts";
import { matchesRun, ofUser, type ListedRunFacts, runFacts, totalsOf } from "./run-facts.ts";

/** Runs examined for one page and for its totals: the latest ones. */
const MOST_LOOKED_AT = 10_000;

const RUN_STATUSES: readonly RunStatus[] = [...OPEN_STATUSES, "completed", "cancelled", "failed"];

/** The place of a run in the lists of runs. */
type RunPlace = readonly [created: number, team: string, id: string];

type KeyRow = { created: number; team: string; id: string };

const FIRST: RunPlace = [Number.MAX_SAFE_INTEGER, "", ""];

/** The runs that were examined, newest first. */
interface Examined {
  matching: ListedRunFacts[];
  /** The last run that was examined, if there are more after it. */
  end: RunPlace | undefined;
}

/** The paginated lists of runs over all teams. */
export class RunLists {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  runs(query: RunQuery): Result<RunList> {
    const { order = "created_at", limit, cursor } = query;
    const start = cursor === undefined ? undefined : placeIn(cursor, order);
    if (cursor !== undefined && start === undefined) return invalidCursor();
    const all = this.#examine(query, FIRST, MOST_LOOKED_AT);
    const totals: RunTotals = {
      ...totalsOf(all.matching),
      complete: all.end === undefined,
    };
    if (order === "created_at") {
      const after = start === undefined ? all : this.#examine(query, start.place, MOST_LOOKED_AT);
      const page = after.matching.slice(0, limit);
      const last = page.length < after.matching.length ? placeOf(page.at(-1)) : after.end;
      return ok({
        runs: page.map((run) => this.#load(run)),
        totals,
        next_cursor: last === undefined ? null : toCursor(...last),
      });
    }
    const value = (run: ListedRunFacts): number => run[order === "cost" ? "cost" : "seconds"] ?? -1;
    const sorted = all.matching
      .toSorted((one, other) => value(other) - value(one) || newestFirst(one, other))
      .filter((run) => start === undefined || isAfter(run, value(run), start));
    const page = sorted.slice(0, limit);
    const last = page.at(-1);
    return ok({
      runs: page.map((run) => this.#load(run)),
      totals,
      next_cursor:
        last === undefined || page.length === sorted.length
          ? null
          : toCursor(value(last), ...placeOf(last)),
    });
  }

  /** Reads all runs in one pass: they are ordered by status and time. */
  teamOf(run: string): string | null {
    const row = this.#db.first<{ team: string }>("select team from run where id = ? limit 1", run);
    return row?.team ?? null;
  }

  /** Searches the latest runs of each status. */
  conversationRuns({
    agent,
    owner,
    statuses,
    limit,
    cursor,
  }: ConversationRunQuery): Result<ConversationRunList> {
    const position =
      cursor === undefined ? [Number.MAX_SAFE_INTEGER] : fromCursor(cursor, ["number"]);
    if (position === undefined) return invalidCursor();
    const rows = statuses.flatMap((status) =>
      this.#db.all<{ record: string }>(
        `select record from (select team, record from run where status = ? order by created desc limit ?) as latest
           where exists (select 1 from conversation where agent = ? and owner = ? and id = latest.team)`,
        status,
        MOST_LOOKED_AT,
        agent,
        owner,
      ),
    );
    const all = rows
      .map(({ record }) => readRunRow(record))
      .toSorted((one, other) => other.changed - one.changed);
    const rest = all.filter(({ changed }) => changed < Number(position[0]));
    const page = rest.slice(0, limit);
    const last = page.at(-1);
    return ok({
      runs: page.map(({ run }) => run),
      next_cursor: last !== undefined && rest.length > limit ? toCursor(last.changed) : null,
      total: all.length,
    });
  }

  /** The runs after a place that match, among the latest ones. */
  #examine(query: RunQuery, start: RunPlace, most: number): Examined {
    const statuses = query.status === undefined ? RUN_STATUSES : [query.status];
    const { from = 0, to = Number.MAX_SAFE_INTEGER } = query;
    const begin: RunPlace = to < start[0] ? [to + 1, "", ""] : start;
    const keys = statuses
      .flatMap((status) =>
        this.#db.all<KeyRow>(
          `select created, team, id from run
             where ${ofUser(query.team_user).condition}status = ? and created >= ? and (created, team, id) < (?, ?, ?)
             order by created desc, team desc, id desc limit ?`,
          ...ofUser(query.team_user).values,
          status,
          from,
          ...begin,
          most + 1,
        ),
      )
      .toSorted(newestFirst);
    const last = keys[Math.min(most, keys.length) - 1];
    if (last === undefined) return { matching: [], end: undefined };
    const facts = statuses.flatMap((status) =>
      runFacts(this.#db, status, { from: placeOf(last), before: begin }, query),
    );
    return {
      matching: facts.filter((run) => matchesRun(run, query)).toSorted(newestFirst),
      end: keys.length > most ? placeOf(last) : undefined,
    };
  }

  #load({ status, created, team, id }: ListedRunFacts): ListedRun {
    const { record } = this.#db.first<{ record: string }>(
      "select record from run where status = ? and created = ? and team = ? and id = ?",
      status,
      created,
      team,
      id,
    ) as { record: string };
    return readRunRow(record).run;
  }
}

interface Start {
  /** The value of the last run of the page before, where the list is sorted by one. */
  value: number;
  place: RunPlace;
}

function placeIn(cursor: string, order: NonNullable<RunQuery["order"]>): Start | undefined {
  if (order === "created_at") {
    const place = fromCursor(cursor, ["number", "string", "string"]);
    return place && { value: 0, place };
  }
  const position = fromCursor(cursor, ["number", "number", "string", "string"]);
  if (position === undefined) return undefined;
  const [value, ...place] = position;
  return { value, place };
}

function isAfter(run: ListedRunFacts, value: number, start: Start): boolean {
  if (value !== start.value) return value < start.value;
  const [created, team, id] = start.place;
  return newestFirst(run, { created, team, id }) > 0;
}

function placeOf(row: KeyRow): RunPlace;
function placeOf(row: KeyRow | undefined): RunPlace | undefined;
function placeOf(row: KeyRow | undefined): RunPlace | undefined {
  return row && [row.created, row.team, row.id];
}

function newestFirst(one: KeyRow, other: KeyRow): number {
  return other.created - one.created || compare(other.team, one.team) || compare(other.id, one.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
