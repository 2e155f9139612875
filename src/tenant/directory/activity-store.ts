import type { RunKey } from "../../contract/directory.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";
import type { DayUsage } from "../usage/day-usage.ts";

/** The row of a team in the list, written when one of its runs ends or the team itself changes. */
export interface Activity {
  /** The number of the last entry that was applied. */
  number: number;
  usage: TokenUsage;
  updated_at: string;
  /** The runs that ended last, the latest first. */
  ended: EndedRun[];
  /** Usage on the last day on which a run ended. */
  day: DayUsage | null;
  /** The size of the team's data, as it has reported it. Missing in rows of earlier versions. */
  bytes?: number;
  /** To whom the team belongs. Missing for a team of the tenant. */
  user?: string;
}

interface EndedRun extends RunKey {
  changed: number;
}

/** A team's row and its place: the number of the change that wrote it; null for a team without a row. */
export interface PlacedActivity {
  at: number | null;
  activity: Activity;
}

export const NO_ACTIVITY: Activity = {
  number: 0,
  usage: { prompt_tokens: 0, completion_tokens: 0 },
  updated_at: "",
  ended: [],
  day: null,
};

type Row = { changed: number; record: string };

/** The list of teams, ordered by their last change. */
export class ActivityStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Reads the row at its expected place, or searches the list when it is not there. */
  find(team: string, place: number): PlacedActivity {
    const row = this.#db.first<Row>(
      "select changed, record from activity where changed = ? and id = ?",
      place,
      team,
    );
    return row === undefined ? this.search(team) : placed(row);
  }

  /** Reads the whole list; used where the team's place is unknown. */
  search(team: string): PlacedActivity {
    const row = this.#db.first<Row>("select changed, record from activity where id = ?", team);
    return row === undefined ? { at: null, activity: NO_ACTIVITY } : placed(row);
  }

  /** @param from null for a team that is new in the list */
  move(team: string, from: number | null, to: number, activity: Activity): void {
    const record = JSON.stringify(activity);
    if (from === null) {
      this.#db.write("insert into activity values (?, ?, ?)", to, team, record);
    } else {
      this.#db.write(
        "update activity set changed = ?, record = ? where changed = ? and id = ?",
        to,
        record,
        from,
        team,
      );
    }
  }

  /** The size of all teams' data. */
  get storedBytes(): number {
    const query = "select total(record ->> 'bytes') as n from activity";
    return this.#db.first<{ n: number }>(query)?.n ?? 0;
  }

  remove(team: string, place: number): void {
    this.#db.write("delete from activity where changed = ? and id = ?", place, team);
  }

  /** Teams whose row was written after a change. */
  since(after: number): { changed: number; id: string; team_user?: string }[] {
    return this.#db
      .all<{ changed: number; id: string; team_user: string | null }>(
        "select changed, id, record ->> '$.user' as team_user from activity where changed > ?",
        after,
      )
      .map(({ team_user, ...moved }) => ({ ...moved, ...(team_user !== null && { team_user }) }));
  }

  /** All teams, or those of a user, by the place of their row. @param start the place before the first row */
  rows(
    start: number,
    { newest, user }: { newest: boolean; user: string | undefined },
  ): Iterable<Row & { id: string }> {
    const [sign, order] = newest ? ["<", " desc"] : [">", ""];
    const of = user === undefined ? "" : "record ->> '$.user' = ? and ";
    const owner = user === undefined ? [] : [user];
    return this.#db.each<Row & { id: string }>(
      `select changed, id, record from activity where ${of}changed ${sign} ? order by changed${order}`,
      [...owner, start],
      ({ changed }) => [...owner, changed],
    );
  }

  /** The last days of all teams, or of those of a user, that are not before `from` (epoch milliseconds). */
  *lastDays(from: number, user?: string): Iterable<{ team: string; usage: DayUsage }> {
    for (const { id, record } of this.rows(from * 1000 - 1, { newest: false, user })) {
      const { day } = JSON.parse(record) as Activity;
      if (day !== null) yield { team: id, usage: day };
    }
  }
}

function placed({ changed, record }: Row): PlacedActivity {
  return { at: changed, activity: JSON.parse(record) as Activity };
}
