import type {
  ConversationRunList,
  ConversationRunQuery,
  ListedRequest,
  ListedRun,
  ListedTeam,
  RequestList,
  RequestQuery,
  RunList,
  RunQuery,
  TeamList,
  TeamQuery,
} from "../../../contract/directory.ts";
import { ok, type Result } from "../../../contract/result.ts";
import type { RunStatus } from "../../../contract/run.ts";
import type { Database } from "../../storage/database.ts";
import { fromCursor, invalidCursor, toCursor } from "./cursor.ts";
import type { Activity } from "./activity-store.ts";
import type { Directory } from "./directory.ts";
import { OPEN_STATUSES, type RunRow } from "./open-runs.ts";

/** Teams looked at for one page of a search; then the page ends with a cursor, however short it is. */
const MOST_LOOKED_AT = 10_000;

const RUN_STATUSES: readonly RunStatus[] = [...OPEN_STATUSES, "completed", "cancelled", "failed"];

/** The place of a run in the lists of runs. */
type RunPlace = [created: number, team: string, id: string];

interface ListedRow extends Record<string, string | number | null> {
  created: number;
  team: string;
  id: string;
  record: string | null;
}

/** Pages of the directory. */
export class Lists {
  readonly #db: Database;
  readonly #directory: Directory;

  constructor(db: Database, directory: Directory) {
    this.#db = db;
    this.#directory = directory;
  }

  teams(query: TeamQuery): Result<TeamList> {
    const newest = query.order === "newest";
    const position = query.cursor === undefined ? [] : fromCursor(query.cursor, ["number"]);
    if (position === undefined) return invalidCursor();
    const start = Number(position[0] ?? (newest ? Number.MAX_SAFE_INTEGER : 0));
    const teams: ListedTeam[] = [];
    let lookedAt = 0;
    let last = start;
    for (const { changed, id, activity } of this.#inOrder(start, query)) {
      if (teams.length === query.limit || lookedAt === MOST_LOOKED_AT) {
        return ok({ teams, next_cursor: toCursor(last) });
      }
      lookedAt++;
      last = changed;
      const facts = this.#directory.team(id);
      const team = facts && this.#directory.listed(id, facts, activity);
      if (team && matches(team, query)) teams.push(team);
    }
    return ok({ teams, next_cursor: null });
  }

  runs({ status, team, since = 0, limit, cursor }: RunQuery): Result<RunList> {
    const position =
      cursor === undefined
        ? [Number.MAX_SAFE_INTEGER, "", ""]
        : fromCursor(cursor, ["number", "string", "string"]);
    if (position === undefined) return invalidCursor();
    let place = position as RunPlace;
    const most = team === undefined ? limit : MOST_LOOKED_AT;
    const statuses = status === undefined ? RUN_STATUSES : [status];
    const found = statuses
      .flatMap((one) => this.#runsBefore(one, place, { since, ...(team && { team }) }, most + 1))
      .toSorted(newestFirst);
    const runs: ListedRun[] = [];
    for (const [lookedAt, row] of found.entries()) {
      if (runs.length === limit || lookedAt === most) {
        return ok({ runs, next_cursor: toCursor(...place) });
      }
      place = [row.created, row.team, row.id];
      if (row.record !== null) runs.push((JSON.parse(row.record) as RunRow).run);
    }
    return ok({ runs, next_cursor: null });
  }

  /** Looks through the latest runs of each status. */
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
      .map(({ record }) => JSON.parse(record) as RunRow)
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

  requests({ kind, limit, cursor }: RequestQuery): Result<RequestList> {
    const position =
      cursor === undefined ? [0, "", ""] : fromCursor(cursor, ["number", "string", "string"]);
    if (position === undefined) return invalidCursor();
    const [created, team, id] = position as [number, string, string];
    const requests: RequestList["requests"] = [];
    for (const { record } of this.#db.each<{ record: string }>(
      "select record from request where (created, team, id) > (?, ?, ?) order by created, team, id",
      created,
      team,
      id,
    )) {
      const request = listedRequest(record);
      if (kind !== undefined && request.kind !== kind) continue;
      if (requests.length === limit) {
        const last = requests.at(-1);
        const next =
          last === undefined ? null : toCursor(Date.parse(last.created_at), last.team_id, last.id);
        return ok({ requests, next_cursor: next });
      }
      requests.push(request);
    }
    return ok({ requests, next_cursor: null });
  }

  /** Rows of one status, newest first; those of other teams without their record. */
  #runsBefore(
    status: RunStatus,
    [created, team, id]: RunPlace,
    { since, team: only }: { since: number; team?: string },
    most: number,
  ): ListedRow[] {
    return this.#db.all<ListedRow>(
      `select created, team, id, iif(team = coalesce(?, team), record, null) as record from run
         where status = ? and created >= ? and (created, team, id) < (?, ?, ?)
         order by created desc, team desc, id desc limit ?`,
      only ?? null,
      status,
      since,
      created,
      team,
      id,
      most,
    );
  }

  /** All teams by last change. Those with a run under way stand where that run's last change puts them. */
  *#inOrder(
    start: number,
    { order, status }: TeamQuery,
  ): Iterable<{ changed: number; id: string; activity: Activity }> {
    const newest = order === "newest";
    const open = [...this.#directory.open.teams()]
      .filter(({ changed }) => (newest ? changed < start : changed > start))
      .toSorted((one, other) =>
        newest ? other.changed - one.changed : one.changed - other.changed,
      );
    if (status !== undefined && status !== "idle") {
      for (const one of open) yield this.#busy(one.team, one.changed);
      return;
    }
    const busy = new Set([...this.#directory.open.teams()].map(({ team }) => team));
    const rows = this.#db.each<{ changed: number; id: string; record: string }>(
      newest
        ? "select changed, id, record from activity where changed < ? order by changed desc"
        : "select changed, id, record from activity where changed > ? order by changed",
      start,
    );
    let next = 0;
    for (const { changed, id, record } of rows) {
      for (let one = open[next]; one && one.changed > changed === newest; one = open[++next]) {
        yield this.#busy(one.team, one.changed);
      }
      if (!busy.has(id)) yield { changed, id, activity: JSON.parse(record) as Activity };
    }
    for (const one of open.slice(next)) yield this.#busy(one.team, one.changed);
  }

  #busy(id: string, changed: number): { changed: number; id: string; activity: Activity } {
    return { changed, id, activity: this.#directory.activityOf(id) };
  }
}

/** Those of earlier versions say less. @param record as the directory stores it */
export function listedRequest(record: string): ListedRequest {
  type New = "team_label" | "task" | "said";
  const { request } = JSON.parse(record) as {
    request: Omit<ListedRequest, New> & Partial<Pick<ListedRequest, New>>;
  };
  return { team_label: null, task: null, said: null, ...request };
}

function matches(team: ListedTeam, { status, q, metadata, agent, lasting }: TeamQuery): boolean {
  if (team.conversation?.agent_id !== agent) return false;
  if (lasting && team.expires_in !== null) return false;
  if (status !== undefined && team.status !== status) return false;
  for (const [key, value] of Object.entries(metadata)) {
    const own = Object.hasOwn(team.metadata, key) ? team.metadata[key] : undefined;
    if ((typeof own === "string" ? own : JSON.stringify(own)) !== value) return false;
  }
  if (q === undefined) return true;
  const text = q.toLowerCase();
  return team.id.toLowerCase().includes(text) || (team.label ?? "").toLowerCase().includes(text);
}

function newestFirst(one: ListedRow, other: ListedRow): number {
  return other.created - one.created || compare(other.team, one.team) || compare(other.id, one.id);
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
