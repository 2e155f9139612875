import type { ListedRun } from "../../contract/directory.ts";
import { addCosts } from "../../contract/usage/model-usage.ts";
import { subtractUsage } from "../../core/models/request-usage.ts";
import type { Database } from "../../sqlite/database.ts";
import {
  addDays,
  type Counted,
  type DayUsage,
  NONE_COUNTED,
  type OutcomeUsage,
  type UsedOnDay,
  usageOf,
} from "./day-usage.ts";

/** Days of teams that are kept in memory while runs are counted. */
const MOST_AT_ONCE = 500;

const OUTCOMES = ["completed", "failed", "cancelled"] as const;

type RunKey = { created: number; team: string; id: string };

/** A row that has the usage of a team's day. */
interface UsageRow {
  read(): DayUsage | undefined;
  write(usage: DayUsage): void;
}

/**
 * Migrates usage without outcomes: they are counted from the listed runs. What no listed run explains, because its team was deleted,
 * stays as `earlier`, so that the sum of each day is the same as before.
 */
export function countOutcomes(db: Database): void {
  const last = markAsEarlier(db);
  let counted = new Map<string, { team: string; usage: DayUsage }>();
  const store = (): void => {
    for (const { team, usage } of counted.values()) {
      const place = usageRowOf(db, team, usage.day, last.get(team));
      const before = place.read();
      if (before !== undefined) place.write(explained(before, usage));
    }
    counted = new Map();
  };
  for (const status of OUTCOMES) {
    for (const { record } of db.each<RunKey & { record: string }>(
      "select created, team, id, record from run where status = ? and (created, team, id) > (?, ?, ?) order by created, team, id",
      [status, 0, "", ""],
      ({ created, team, id }) => [status, created, team, id],
    )) {
      const { run } = JSON.parse(record) as { run: ListedRun };
      const usage = usageOf(run);
      const key = JSON.stringify([usage.day, run.team_id]);
      const before = counted.get(key);
      counted.set(key, {
        team: run.team_id,
        usage: before === undefined ? usage : addDays(before.usage, usage),
      });
      if (counted.size >= MOST_AT_ONCE) store();
    }
    store();
  }
  closeDays(db);
}

type LastDay = { changed: number; day: string };

/** Returns the last days of the teams, which are in their rows of the list. */
function markAsEarlier(db: Database): Map<string, LastDay> {
  for (const { day, team, record } of db.each<{ day: string; team: string; record: string }>(
    "select day, team, record from usage where (day, team) > (?, ?) order by day, team",
    ["", ""],
    (row) => [row.day, row.team],
  )) {
    const { team_user, ...used } = JSON.parse(record) as UsedOnDay & { team_user?: string };
    const { day: _, ...usage } = earlier({ ...used, day });
    const marked = JSON.stringify({ ...usage, ...(team_user !== undefined && { team_user }) });
    db.write("update usage set record = ? where day = ? and team = ?", marked, day, team);
  }
  const last = new Map<string, LastDay>();
  for (const { changed, id, day } of db.all<{ changed: number; id: string; day: string | null }>(
    "select changed, id, record -> '$.day' as day from activity",
  )) {
    const used = day === null ? null : (JSON.parse(day) as UsedOnDay | null);
    if (used === null) continue;
    activityRow(db, id, changed).write(earlier(used));
    last.set(id, { changed, day: used.day });
  }
  return last;
}

function earlier({ day, ...used }: UsedOnDay): DayUsage {
  const models = Object.entries(used.models).map(
    ([name, of]) => [name, { ...NONE_COUNTED, ...of }] as const,
  );
  const usage = { ...NONE_COUNTED, ...used, models: Object.fromEntries(models) };
  return { day, first: null, outcomes: { earlier: usage } };
}

/** A team that was deleted and made again may have usage of its last day in both places: that of the listed runs is in the list. */
function usageRowOf(db: Database, team: string, day: string, last: LastDay | undefined): UsageRow {
  if (last?.day === day) return activityRow(db, team, last.changed);
  return {
    read() {
      const query = "select record from usage where day = ? and team = ?";
      const row = db.first<{ record: string }>(query, day, team);
      return row && { day, ...(JSON.parse(row.record) as Omit<DayUsage, "day">) };
    },
    write({ first, outcomes }) {
      db.write(
        "update usage set record = json_set(record, '$.first', ?, '$.outcomes', json(?)) where day = ? and team = ?",
        first,
        JSON.stringify(outcomes),
        day,
        team,
      );
    },
  };
}

function activityRow(db: Database, team: string, changed: number): UsageRow {
  return {
    read() {
      const query = "select record -> '$.day' as day from activity where changed = ? and id = ?";
      const row = db.first<{ day: string }>(query, changed, team);
      return row && (JSON.parse(row.day) as DayUsage);
    },
    write(usage) {
      db.write(
        "update activity set record = json_set(record, '$.day', json(?)) where changed = ? and id = ?",
        JSON.stringify(usage),
        changed,
        team,
      );
    },
  };
}

/** Moves what is known of runs from `earlier` to their outcomes. */
function explained(before: DayUsage, known: DayUsage): DayUsage {
  const { earlier: rest, ...outcomes } = before.outcomes;
  let left = rest;
  for (const usage of Object.values(known.outcomes)) left = left && without(left, usage);
  const isLeft = left !== undefined && isSome(left);
  return addDays({ ...before, outcomes: { ...outcomes, ...(isLeft && { earlier: left }) } }, known);
}

function without(one: OutcomeUsage, other: OutcomeUsage): OutcomeUsage {
  const models = Object.entries(one.models).map(([name, used]) => {
    const of = Object.hasOwn(other.models, name) ? other.models[name] : undefined;
    return [name, of === undefined ? used : subtracted(used, of)] as const;
  });
  return { ...subtracted(one, other), models: Object.fromEntries(models) };
}

function subtracted(one: Counted, other: Counted): Counted {
  return {
    ...NONE_COUNTED,
    runs: one.runs - other.runs,
    turns: one.turns - other.turns,
    ...subtractUsage(one, other),
    cost: other.cost === null ? one.cost : addCosts(one.cost, -other.cost),
  };
}

function isSome({ runs, turns, prompt_tokens, completion_tokens, cost }: Counted): boolean {
  return [runs, turns, prompt_tokens, completion_tokens, cost ?? 0].some((value) => value !== 0);
}

/** Stores the sums of all days but the last one, to which runs are still added. */
function closeDays(db: Database): void {
  const days = new Map<string, DayUsage>();
  const add = (usage: DayUsage): void => {
    const before = days.get(usage.day);
    days.set(usage.day, before === undefined ? usage : addDays(before, usage));
  };
  for (const { day, record } of db.each<{ day: string; team: string; record: string }>(
    "select day, team, record from usage where (day, team) > (?, ?) order by day, team",
    ["", ""],
    (row) => [row.day, row.team],
  )) {
    const { first, outcomes } = JSON.parse(record) as DayUsage;
    add({ day, first, outcomes });
  }
  for (const { day } of db.all<{ day: string }>(
    "select record -> '$.day' as day from activity where record ->> '$.day.day' is not null",
  )) {
    add(JSON.parse(day) as DayUsage);
  }
  const last = [...days.keys()].toSorted().at(-1);
  for (const { day, ...usage } of days.values()) {
    if (day === last) continue;
    db.write("insert into day_usage values (?, ?)", day, JSON.stringify(usage));
  }
}
