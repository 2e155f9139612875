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
import { LAST_DAY } from "../usage/day-totals.ts";
import { fromCursor, invalidCursor, toCursor } from "./cursor.ts";
import type { Directory } from "./directory.ts";
import { OPEN_STATUSES, readRunRow } from "./open-runs.ts";
import { dayAt, type RunCounts, withOpen } from "./run-counts.ts";
import {
  factsOf,
  hasRange,
  type ListedRunFacts,
  matchesFilters,
  matchesRun,
  ofUser,
  runFacts,
  totalsOf,
} from "./run-facts.ts";

/** Runs examined for one page and for its totals: the latest ones. */
const MOST_LOOKED_AT = 10_000;

/** Runs examined first for a page of the newest ones. */
const FIRST_LOOKED_AT = 200;

const ENDED_STATUSES = ["completed", "cancelled", "failed"] as const;
const RUN_STATUSES: readonly RunStatus[] = [...OPEN_STATUSES, ...ENDED_STATUSES];

const RUN_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const PLACE = ["number", "string", "string"] as const;

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
  readonly #directory: Directory;
  readonly #counts: RunCounts;

  constructor(db: Database, directory: Directory, counts: RunCounts) {
    this.#db = db;
    this.#directory = directory;
    this.#counts = counts;
  }

  runs(query: RunQuery): Result<RunList> {
    const { order = "created_at", limit, cursor, totals_after } = query;
    const start = cursor === undefined ? undefined : placeIn(cursor, order);
    const after = totals_after === undefined ? FIRST : fromCursor(totals_after, PLACE);
    if (cursor !== undefined && start === undefined) return invalidCursor();
    if (after === undefined) return invalidCursor("totals_after");
    const found = query.q === undefined ? undefined : this.#byId(query.q, query);
    if (found !== undefined) return ok(this.#alone(found));
    const totals = this.#totals(query, after);
    if (order === "created_at") {
      return ok({ ...this.#newest(query, start?.place ?? FIRST), totals, complete: true });
    }
    const all = this.#examine(query, FIRST, MOST_LOOKED_AT);
    const value = (run: ListedRunFacts): number => run[order === "cost" ? "cost" : "seconds"] ?? -1;
    const sorted = all.matching
      .toSorted((one, other) => value(other) - value(one) || newestFirst(one, other))
      .filter((run) => start === undefined || isAfter(run, value(run), start));
    const page = sorted.slice(0, limit);
    const last = page.at(-1);
    return ok({
      runs: page.map((run) => this.#load(run)),
      totals,
      complete: all.end === undefined,
      next_cursor:
        last === undefined || page.length === sorted.length
          ? null
          : toCursor(value(last), ...placeOf(last)),
    });
  }

  /** @param after the place after which runs are looked at, where they are not counted by day */
  #totals(query: RunQuery, after: RunPlace): RunTotals {
    const open = [...this.#directory.open.runs()]
      .filter(({ team_user }) => query.team_user === undefined || team_user === query.team_user)
      .map(({ run }) => factsOf(run, query))
      .filter((run) => matchesFilters(run, query));
    const counted = this.#counts.totals(query);
    if (counted !== undefined) {
      const totals = hasRange(query) ? counted : withOpen(counted, totalsOf(open));
      return { ...totals, open: open.length, complete: true, next_cursor: null };
    }
    const { matching, end } = this.#examine(query, after, MOST_LOOKED_AT);
    return {
      ...totalsOf(matching),
      open: open.length,
      complete: end === undefined,
      next_cursor: end === undefined ? null : toCursor(...end),
    };
  }

  /** A page of the list that is not sorted by a value: as many runs are looked at as it takes. */
  #newest(query: RunQuery, start: RunPlace): Pick<RunList, "runs" | "next_cursor"> {
    const { limit } = query;
    const matching: ListedRunFacts[] = [];
    let end: RunPlace | undefined = start;
    let left = MOST_LOOKED_AT;
    for (let most = FIRST_LOOKED_AT; end && left > 0 && matching.length <= limit; most *= 4) {
      const next: Examined = this.#examine(query, end, Math.min(most, left));
      left -= most;
      matching.push(...next.matching);
      end = next.end;
    }
    const page = matching.slice(0, limit);
    const last = page.length < matching.length ? placeOf(page.at(-1)) : end;
    return {
      runs: page.map((run) => this.#load(run)),
      next_cursor: last === undefined ? null : toCursor(...last),
    };
  }

  /** The run with this id, whatever its age, if it matches the rest of the query. */
  #byId(id: string, query: RunQuery): ListedRunFacts | undefined {
    if (!RUN_ID.test(id)) return undefined;
    const row = this.#db.first<KeyRow & { status: RunStatus }>(
      "select status, created, team, id from run where id = ? limit 1",
      id.toLowerCase(),
    );
    if (row === undefined) return undefined;
    const { status, created, team } = row;
    const place = { from: placeOf(row), before: [created, team, `${row.id} `] } as const;
    return runFacts(this.#db, status, place, query).find((run) => matchesRun(run, query));
  }

  #alone(run: ListedRunFacts): RunList {
    const open = run.ended === null ? 1 : 0;
    const totals = { ...totalsOf([run]), open, complete: true, next_cursor: null };
    return { runs: [this.#load(run)], totals, complete: true, next_cursor: null };
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
    const statuses = (hasRange(query) ? ENDED_STATUSES : RUN_STATUSES).filter(
      (status) => query.status === undefined || status === query.status,
    );
    const from = this.#oldest(query);
    const { to = Number.MAX_SAFE_INTEGER } = query;
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

  /** When the first of the runs that may match was created: the days know it of those that ended on them. */
  #oldest({ since = 0, from, to }: RunQuery): number {
    if (from === undefined) return since;
    const last = to === undefined ? LAST_DAY : dayAt(to);
    const first = this.#directory.days.firstCreated(dayAt(from), last);
    return Math.max(since, first ?? Number.MAX_SAFE_INTEGER);
  }

  #load({ status, created, team, id }: ListedRunFacts): ListedRun {
    const { record } = this.#db.first<{ record: string }>(
      "select record from run where status = ? and created = ? and team = ? and id = ?",
      status,
      created,
      team,
      id,
    ) as { record: string };
    const team_label = this.#directory.team(team)?.label ?? null;
    return { ...readRunRow(record).run, team_label };
  }
}

interface Start {
  /** The value of the last run of the page before, where the list is sorted by one. */
  value: number;
  place: RunPlace;
}

function placeIn(cursor: string, order: NonNullable<RunQuery["order"]>): Start | undefined {
  if (order === "created_at") {
    const place = fromCursor(cursor, PLACE);
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
