import type { ListedRun, ListedTeam } from "../../contract/directory.ts";
import type { RunStatus } from "../../contract/run.ts";
import { totalCost } from "../../contract/usage/model-usage.ts";
import type { Database } from "../../sqlite/database.ts";

/** Statuses of runs that have no outcome yet. */
export const OPEN_STATUSES = ["queued", "running", "waiting", "paused"] as const;

/** The stored data of a run. */
export interface RunRow {
  run: ListedRun;
  /** The number of the run's last change. */
  changed: number;
  /** The place of its team in the list at that change. */
  place: number | null;
  /** To whom its team belongs. */
  team_user?: string;
}

/** A run as teams of any version have reported it. */
export type ReportedRun = Omit<ListedRun, NewField | "error"> &
  Partial<Pick<ListedRun, NewField>> & { error: ReportedError | null };
type ReportedError = Omit<NonNullable<ListedRun["error"]>, "agent"> & { agent?: string | null };
type NewField = "task" | "answer" | "cost" | "component_version";

/** Adds the fields that earlier versions did not report. */
export function completeRun(run: ReportedRun): ListedRun {
  return {
    task: null,
    answer: null,
    cost: totalCost(run.models),
    component_version: null,
    ...run,
    error: run.error && { ...run.error, agent: run.error.agent ?? null },
  };
}

export function readRunRow(record: string): RunRow {
  const row = JSON.parse(record) as Omit<RunRow, "run"> & { run: ReportedRun };
  return { ...row, run: completeRun(row.run) };
}

export function isOpen(status: RunStatus): status is (typeof OPEN_STATUSES)[number] {
  return (OPEN_STATUSES as readonly RunStatus[]).includes(status);
}

/**
 * The active and queued runs, in memory. They say what status their teams have and where their own rows are in the
 * table. There are few of them, because the number of active runs is limited.
 */
export class OpenRuns {
  readonly #teams = new Map<string, Map<string, RunRow>>();

  constructor(db: Database) {
    for (const status of OPEN_STATUSES) {
      for (const { record } of db.all<{ record: string }>(
        "select record from run where status = ?",
        status,
      )) {
        this.set(readRunRow(record));
      }
    }
  }

  get(team: string, id: string): RunRow | undefined {
    return this.#teams.get(team)?.get(id);
  }

  of(team: string): RunRow[] {
    return [...(this.#teams.get(team)?.values() ?? [])];
  }

  /** Runs that are not queued. */
  get active(): number {
    let count = 0;
    for (const { run } of this.runs()) if (run.status !== "queued") count++;
    return count;
  }

  *runs(): Iterable<RunRow> {
    for (const runs of this.#teams.values()) yield* runs.values();
  }

  /** Teams with an active run, and the number of their last change. */
  *teams(): Iterable<{ team: string; changed: number; runs: readonly RunRow[] }> {
    for (const [team, byId] of this.#teams) {
      const runs = [...byId.values()];
      yield { team, changed: Math.max(...runs.map(({ changed }) => changed)), runs };
    }
  }

  set(row: RunRow): void {
    const { team_id, id, status } = row.run;
    const runs = this.#teams.get(team_id) ?? new Map<string, RunRow>();
    if (isOpen(status)) runs.set(id, row);
    else runs.delete(id);
    if (runs.size > 0) this.#teams.set(team_id, runs);
    else this.#teams.delete(team_id);
  }

  remove(team: string): void {
    this.#teams.delete(team);
  }

  statusOf(team: string): Pick<ListedTeam, "status" | "active_run"> {
    const active = this.of(team).find(({ run }) => run.status !== "queued")?.run;
    const status = active?.status;
    return {
      status: status === "running" || status === "waiting" || status === "paused" ? status : "idle",
      active_run: active?.id ?? null,
    };
  }
}
