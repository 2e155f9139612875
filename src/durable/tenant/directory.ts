import type {
  Acknowledgement,
  Delivery,
  ListedRequest,
  ListedTeam,
  OutboxEntry,
  TeamFacts,
} from "../../contract/directory.ts";
import type { RequestUsage } from "../../core/models/llm-messages.ts";
import type { Database } from "../storage/database.ts";
import type { ChangeClock } from "./change-clock.ts";
import { isOpen, OpenRuns, type RunRow } from "./open-runs.ts";

/** Where a team is in the list, and what changes when one of its runs ends. */
export interface Activity {
  /** Of the last entry that was applied. */
  number: number;
  usage: RequestUsage;
  updated_at: string;
  /** The run that ended last. */
  last_run: RunRow | null;
}

/** What changed, for those who watch. */
export type Change =
  | { changed: number; kind: "team"; id: string }
  | { changed: number; kind: "run"; row: RunRow }
  | { changed: number; kind: "request"; request: ListedRequest }
  | { changed: number; kind: "request_closed"; team_id: string; id: string }
  | { changed: number; kind: "team_deleted"; id: string };

const NO_ACTIVITY: Activity = {
  number: 0,
  usage: { prompt_tokens: 0, completion_tokens: 0 },
  updated_at: "",
  last_run: null,
};

/** The projection of all teams of a tenant: applies what they deliver. */
export class Directory {
  readonly #db: Database;
  readonly #clock: ChangeClock;
  readonly open: OpenRuns;
  /** Where teams with a run under way have their row. */
  readonly #places = new Map<string, number>();
  #size: number | undefined;

  constructor(db: Database, clock: ChangeClock) {
    this.#db = db;
    this.#clock = clock;
    this.open = new OpenRuns(db);
    for (const { team, runs } of this.open.teams()) {
      for (const { place } of runs) if (place !== null) this.#places.set(team, place);
    }
  }

  activityOf(team: string): Activity {
    return this.#find(team, this.#places.get(team) ?? null).activity;
  }

  /** Applies the entries that were not applied before, in their order; to be called inside a transaction. */
  apply({ team, place, entries }: Delivery, now: number): Acknowledgement & { changes: Change[] } {
    let { at, activity } = this.#find(team, place);
    const changes: Change[] = [];
    let moved = false;
    for (const entry of entries) {
      if (entry.number <= activity.number) continue;
      const changed = this.#clock.next(now);
      const applied = this.#applyEntry(team, entry, activity, { changed, place: at });
      changes.push(...applied.changes);
      activity = { ...applied.activity, number: entry.number };
      // A run's start is noted in the run's own row alone: its team's place follows it in memory.
      if (entry.kind === "deleted") return this.#remove(team, at, changed, changes, entry.number);
      if (applied.moves) {
        this.#move(team, at, changed, activity);
        at = changed;
        moved = true;
      }
    }
    if (!moved && at === null) {
      at = this.#clock.next(now);
      this.#move(team, null, at, activity);
    }
    if (at !== null) this.#places.set(team, at);
    return { number: activity.number, place: at ?? 0, changes };
  }

  listed(id: string, facts: TeamFacts, activity: Activity): ListedTeam {
    const { label, metadata, provider, component_version, created_at } = facts;
    const updated = [
      activity.updated_at,
      facts.updated_at,
      ...this.open.of(id).map(({ run }) => run.started_at ?? run.created_at),
    ];
    return {
      id,
      label,
      metadata,
      provider,
      component_version,
      ...this.open.statusOf(id),
      usage: activity.usage,
      created_at,
      updated_at: updated.toSorted().at(-1) ?? created_at,
    };
  }

  /** The run of the team that ended last, if that was after a change. */
  endedSince(team: string, after: number): RunRow[] {
    const { last_run } = this.activityOf(team);
    return last_run !== null && last_run.changed > after ? [last_run] : [];
  }

  team(id: string): TeamFacts | undefined {
    const row = this.#db.first<{ record: string }>("select record from team where id = ?", id);
    return row && (JSON.parse(row.record) as TeamFacts);
  }

  /** How many teams there are. */
  get size(): number {
    this.#size ??= this.#db.first<{ n: number }>("select count(*) as n from team")?.n ?? 0;
    return this.#size;
  }

  /** The team's row in the list. An acknowledgement that got lost leaves the team with an old place: then it is searched. */
  #find(team: string, place: number | null): { at: number | null; activity: Activity } {
    const at = (row: { changed: number; record: string } | undefined) =>
      row && { at: row.changed, activity: JSON.parse(row.record) as Activity };
    const known =
      place !== null &&
      at(
        this.#db.first<{ changed: number; record: string }>(
          "select changed, record from activity where changed = ? and id = ?",
          place,
          team,
        ),
      );
    if (known) return known;
    const searched =
      this.team(team) &&
      at(
        this.#db.first<{ changed: number; record: string }>(
          "select changed, record from activity where id = ?",
          team,
        ),
      );
    return searched ?? { at: null, activity: NO_ACTIVITY };
  }

  #applyEntry(
    team: string,
    entry: OutboxEntry,
    activity: Activity,
    { changed, place }: { changed: number; place: number | null },
  ): { activity: Activity; changes: Change[]; moves: boolean } {
    switch (entry.kind) {
      case "team":
        this.#saveTeam(team, entry.team);
        return {
          activity: { ...activity, updated_at: entry.team.updated_at },
          changes: [{ changed, kind: "team", id: team }],
          moves: true,
        };
      case "run": {
        const { run } = entry;
        const row = { run, changed, place };
        this.#saveRun(row);
        const over = !isOpen(run.status);
        return {
          activity: over
            ? {
                ...activity,
                usage: entry.team_usage,
                updated_at: run.ended_at ?? activity.updated_at,
                last_run: row,
              }
            : activity,
          changes: [
            { changed, kind: "run", row },
            { changed, kind: "team", id: team },
          ],
          moves: over,
        };
      }
      case "request": {
        const { request } = entry;
        this.#db.write(
          "insert or replace into request values (?, ?, ?, ?)",
          Date.parse(request.created_at),
          team,
          request.id,
          JSON.stringify({ request, changed }),
        );
        return { activity, changes: [{ changed, kind: "request", request }], moves: false };
      }
      case "request_closed":
        this.#db.write(
          "delete from request where created = ? and team = ? and id = ?",
          Date.parse(entry.created_at),
          team,
          entry.id,
        );
        return {
          activity,
          changes: [{ changed, kind: "request_closed", team_id: team, id: entry.id }],
          moves: false,
        };
      case "deleted":
        return { activity, changes: [], moves: false };
    }
  }

  /** The first time it confirms the reservation. */
  #saveTeam(id: string, facts: TeamFacts): void {
    const size = this.size + (this.team(id) === undefined ? 1 : 0);
    this.#db.write("delete from reservation where id = ?", id);
    this.#db.write(
      "insert into team values (?, ?) on conflict (id) do update set record = excluded.record",
      id,
      JSON.stringify(facts),
    );
    this.#size = size;
  }

  #saveRun(row: RunRow): void {
    const { run } = row;
    const created = Date.parse(run.created_at);
    const before = this.open.get(run.team_id, run.id);
    const record = JSON.stringify(row);
    if (before) {
      this.#db.write(
        "update run set status = ?, record = ? where status = ? and created = ? and team = ? and id = ?",
        run.status,
        record,
        before.run.status,
        created,
        run.team_id,
        run.id,
      );
    } else {
      this.#db.write(
        "insert or replace into run values (?, ?, ?, ?, ?)",
        run.status,
        created,
        run.team_id,
        run.id,
        record,
      );
    }
    this.open.set(row);
  }

  #move(team: string, from: number | null, to: number, activity: Activity): void {
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

  #remove(
    team: string,
    place: number | null,
    changed: number,
    changes: Change[],
    number: number,
  ): Acknowledgement & { changes: Change[] } {
    if (place !== null) {
      this.#db.write("delete from activity where changed = ? and id = ?", place, team);
    }
    this.#db.write("delete from team where id = ?", team);
    this.#db.write("delete from idempotency where team = ?", team);
    this.#size = undefined;
    this.#db.write("delete from request where team = ?", team);
    this.#db.write("delete from run where team = ?", team);
    this.#db.write("insert into gone values (?, ?)", changed, team);
    this.open.remove(team);
    this.#places.delete(team);
    changes.push({ changed, kind: "team_deleted", id: team });
    return { number, place: changed, changes };
  }
}
