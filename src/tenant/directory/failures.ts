import { MOST_LATEST_FAILURES } from "../../contract/constants.ts";
import type { FailureGroup, FailureList, FailureQuery } from "../../contract/run-failures.ts";
import { ok, type Result } from "../../contract/result.ts";
import type { Database } from "../../sqlite/database.ts";
import { LAST_DAY } from "../usage/day-totals.ts";
import { fromCursor, invalidCursor, toCursor } from "./cursor.ts";
import type { Directory } from "./directory.ts";
import { dayAt } from "./run-counts.ts";
import { ofUser } from "./run-facts.ts";

/** Failed runs that are looked at: the latest ones. */
const MOST_LOOKED_AT = 10_000;

/** Stands for an id or a number. */
const LEFT_OUT = "…";

const WORD = /[\w-]+/g;

/** Longer words with several groups of digits are ids. */
const SHORTEST_ID = 8;
/** Longer words without a hyphen are ids, too. */
const SHORTEST_WORD_ID = 16;

interface FailedRun extends Record<string, string | number | null> {
  created: number;
  team: string;
  id: string;
  error: string | null;
  message: string | null;
  agent: string | null;
  component_version: number | null;
  ended: string;
}

interface Group {
  /** The one that ended last comes first. */
  runs: FailedRun[];
  facts: Pick<FailureGroup, "error" | "message" | "agent" | "component_version">;
}

/** The failed runs of all teams, in groups of what is probably the same failure. */
export class Failures {
  readonly #db: Database;
  readonly #directory: Directory;

  constructor(db: Database, directory: Directory) {
    this.#db = db;
    this.#directory = directory;
  }

  list(query: FailureQuery): Result<FailureList> {
    const { limit, cursor } = query;
    const start = cursor === undefined ? undefined : fromCursor(cursor, ["string", "string"]);
    if (cursor !== undefined && start === undefined) return invalidCursor();
    const { runs, complete } = this.#failed(query);
    const groups = grouped(runs).filter(
      ({ runs: [last] }) => start === undefined || (last !== undefined && isAfter(last, start)),
    );
    const page = groups.slice(0, limit);
    const latest = page.length === 0 ? new Map<string, string>() : this.#latest(query);
    const last = page.at(-1)?.runs[0];
    return ok({
      groups: page.map((group) => this.#shown(group, latest)),
      complete,
      next_cursor:
        last === undefined || page.length === groups.length ? null : toCursor(last.ended, last.id),
    });
  }

  #failed({ since, team_user }: FailureQuery): { runs: FailedRun[]; complete: boolean } {
    const first =
      since === undefined ? 0 : this.#directory.days.firstCreated(dayAt(since), LAST_DAY);
    if (first === null) return { runs: [], complete: true };
    const { condition, values } = ofUser(team_user);
    const runs = this.#db.all<FailedRun>(
      `select created, team, id,
         record ->> '$.run.error.type' as error,
         record ->> '$.run.error.message' as message,
         record ->> '$.run.error.agent' as agent,
         record ->> '$.run.component_version' as component_version,
         record ->> '$.run.ended_at' as ended
       from run where ${condition}status = 'failed' and created >= ? order by created desc limit ?`,
      ...values,
      first,
      MOST_LOOKED_AT + 1,
    );
    return {
      runs: runs
        .slice(0, MOST_LOOKED_AT)
        .filter(({ ended }) => since === undefined || Date.parse(ended) >= since),
      complete: runs.length <= MOST_LOOKED_AT,
    };
  }

  /** The latest run of each team without an open one. */
  #latest({ since = 0, team_user }: FailureQuery): Map<string, string> {
    const latest = new Map<string, string>();
    const query = { newest: false, user: team_user };
    // The row of a team has moved with the end of the run.
    for (const { id, record } of this.#directory.rows(since * 1000 - CLOCKS_DIFFER, query)) {
      const { ended } = JSON.parse(record) as { ended: { id: string; created: number }[] };
      const [last] = ended.toSorted((one, other) => other.created - one.created);
      if (last !== undefined && this.#directory.open.of(id).length === 0) latest.set(id, last.id);
    }
    return latest;
  }

  #shown({ runs, facts }: Group, latest: ReadonlyMap<string, string>): FailureGroup {
    const retryable = runs.filter(({ team, id }) => latest.get(team) === id);
    return {
      ...facts,
      count: runs.length,
      teams: new Set(runs.map(({ team }) => team)).size,
      first_at: runs.at(-1)?.ended ?? "",
      last_at: runs[0]?.ended ?? "",
      retryable: retryable.length,
      latest: retryable
        .slice(0, MOST_LATEST_FAILURES)
        .map(({ team, id }) => ({ team_id: team, run_id: id })),
    };
  }
}

/** A minute, as the numbers of changes count it. */
const CLOCKS_DIFFER = 60_000_000;

/** The group that failed last comes first. */
function grouped(runs: readonly FailedRun[]): Group[] {
  const groups = new Map<string, Group>();
  for (const run of runs.toSorted(latestFirst)) {
    const { error, agent, component_version } = run;
    const message = withoutNumbers(run.message ?? "");
    const facts = { error: error ?? "", message, agent, component_version };
    const key = JSON.stringify(facts);
    const group = groups.get(key) ?? { runs: [], facts };
    group.runs.push(run);
    groups.set(key, group);
  }
  return [...groups.values()];
}

function latestFirst(one: FailedRun, other: FailedRun): number {
  if (one.ended !== other.ended) return one.ended < other.ended ? 1 : -1;
  return one.id < other.id ? 1 : -1;
}

function isAfter({ ended, id }: FailedRun, [time, last]: readonly [string, string]): boolean {
  return ended === time ? id < last : ended < time;
}

/** A message without what differs between equal failures: ids and numbers. */
export function withoutNumbers(message: string): string {
  return message
    .replaceAll(WORD, (word) => (isId(word) ? LEFT_OUT : word.replaceAll(/\d+/g, LEFT_OUT)))
    .replaceAll(/…(?:[.,:+]?…)+/g, LEFT_OUT);
}

function isId(word: string): boolean {
  const numbers = word.match(/\d+/g)?.length ?? 0;
  if (word.length >= SHORTEST_ID && numbers > 1) return true;
  return word.length >= SHORTEST_WORD_ID && !word.includes("-");
}
