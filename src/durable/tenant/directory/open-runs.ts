import type { ListedRun, ListedTeam } from "../../../contract/directory.ts";
import type { RunStatus } from "../../../contract/run.ts";
import type { Database } from "../../storage/database.ts";

/** Statuses of runs that have no outcome yet. */
export const OPEN_STATUSES = ["queued", "running", "waiting", "paused"] as const;

/** What is stored of a run. */
export interface RunRow {
  run: ListedRun;
  /** The number of its last change. */
  changed: number;
  /** Where its team was in the list then. */
  place: number | null;
}

export function isOpen(status: RunStatus): boolean {
  return (OPEN_STATUSES as readonly RunStatus[]).includes(status);
}

/**
 * The runs under way, in memory: they say what status their teams have, and where in the table their own rows are. There
 * are few of them, because the number of active runs is limited.
 */
export class OpenRuns {
  readonly #teams = new Map<string, Map<string, RunRow>>();

  constructor(db: Database) {
    for (const status of OPEN_STATUSES) {
      for (const { record } of db.each<{ record: string }>(
        "select record from run where status = ?",
        status,
      )) {
        this.set(JSON.parse(record) as RunRow);
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
    for (const runs of this.#teams.values()) {
      for (const { run } of runs.values()) if (run.status !== "queued") count++;
    }
    return count;
  }

  /** Teams with a run under way, and the number of their last change. */
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
