import type {
  ListedRequest,
  ListedTeam,
  RequestList,
  RequestQuery,
  TeamList,
  TeamQuery,
} from "../../contract/directory.ts";
import { PLAYGROUND } from "../../contract/constants.ts";
import { loginOfRecord } from "../../contract/gateways/login-sight.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "./cursor.ts";
import type { Activity } from "./activity-store.ts";
import type { Directory } from "./directory.ts";

/** Teams examined for one page of a search; after that the page ends with a cursor, even when it is short. */
const MOST_LOOKED_AT = 10_000;

/** The expiry of a question, after all others where it has none. Open questions are few: no index has it. */
const EXPIRY = "coalesce(record ->> '$.request.expires_at', '~')";

interface ListedRow extends Record<string, string | number | null> {
  created: number;
  team: string;
  id: string;
  record: string | null;
}

/** The paginated lists of teams and questions. */
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
    const start = position[0] ?? (newest ? Number.MAX_SAFE_INTEGER : 0);
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
      if (team && matches(team, query)) {
        teams.push({ ...team, ...this.#directory.shown(id, activity) });
      }
    }
    return ok({ teams, next_cursor: null });
  }

  requests({
    kind,
    team: only,
    team_user,
    order = "created_at",
    limit,
    cursor,
  }: RequestQuery): Result<RequestList> {
    const byAge = order === "created_at";
    const position: (string | number)[] | undefined =
      cursor === undefined
        ? [...(byAge ? [] : [""]), 0, "", ""]
        : fromCursor(cursor, [
            ...(byAge ? [] : (["string"] as const)),
            "number",
            "string",
            "string",
          ]);
    if (position === undefined) return invalidCursor();
    const requests: RequestList["requests"] = [];
    const of = team_user === undefined ? "" : "record ->> '$.team_user' = ? and ";
    const owner = team_user === undefined ? [] : [team_user];
    const places = byAge ? "created, team, id" : `${EXPIRY}, created, team, id`;
    const placeOf = ({ expiry, created, team, id }: RequestRow): (string | number)[] =>
      byAge ? [created, team, id] : [expiry, created, team, id];
    let last: (string | number)[] = [];
    for (const row of this.#db.each<RequestRow>(
      `select ${EXPIRY} as expiry, created, team, id, record from request
       where ${of}(${places}) > (${position.map(() => "?").join()}) order by ${places}`,
      [...owner, ...position],
      (after) => [...owner, ...placeOf(after)],
    )) {
      const request = listedRequest(row.record);
      if (only !== undefined && request.team_id !== only) continue;
      if (kind !== undefined && request.kind !== kind) continue;
      if (requests.length === limit) return ok({ requests, next_cursor: toCursor(...last) });
      requests.push(request);
      last = placeOf(row);
    }
    return ok({ requests, next_cursor: null });
  }

  /** All teams by their last change. A team with an active run stands at that run's last change. */
  *#inOrder(
    start: number,
    { order, status, team_user }: TeamQuery,
  ): Iterable<{ changed: number; id: string; activity: Activity }> {
    const newest = order === "newest";
    const open = [...this.#directory.open.teams()]
      .filter(({ runs }) => team_user === undefined || runs[0]?.team_user === team_user)
      .filter(({ changed }) => (newest ? changed < start : changed > start))
      .toSorted((one, other) =>
        newest ? other.changed - one.changed : one.changed - other.changed,
      );
    if (status !== undefined && status !== "idle") {
      for (const one of open) yield this.#busy(one.team, one.changed);
      return;
    }
    const busy = new Set([...this.#directory.open.teams()].map(({ team }) => team));
    const rows = this.#directory.rows(start, { newest, user: team_user });
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

interface RequestRow extends ListedRow {
  record: string;
  expiry: string;
}

/** Completes records of earlier versions, which have fewer fields. @param record as the directory stores it */
export function listedRequest(record: string): ListedRequest {
  type New = "team_label" | "task" | "said";
  const { request } = JSON.parse(record) as {
    request: Omit<ListedRequest, New> & Partial<Pick<ListedRequest, New>>;
  };
  const { url, ...shown } = request;
  const { prompt, login } = loginOfRecord({ ...shown, url }) ?? shown;
  return {
    team_label: null,
    task: null,
    said: null,
    ...shown,
    prompt,
    ...(login && { login: { server: login.server, user: login.user } }),
  };
}

function matches(
  team: Omit<ListedTeam, "last_run">,
  { status, q, metadata, agent, lasting, playground }: TeamQuery,
): boolean {
  if (team.conversation?.agent_id !== agent) return false;
  if (playground !== undefined && (team.metadata[PLAYGROUND] === true) !== playground) return false;
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
