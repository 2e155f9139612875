import type { NestedLedgers } from "../../../contract/turn.ts";
import type { JsonObject } from "../../../core/json.ts";
import { isInside } from "../../../telemetry/spans/stored-spans.ts";
import { ledgersIn } from "../views/turn-report.ts";

/** Entries of one turn. The default of an orchestrator is at most 20 rounds. */
const MOST_ENTRIES = 100;

/** An agent or a tool that runs in a scope. */
export interface NamedScope {
  path: string;
  name: string;
}

/** The ledgers of Magentic-One teams inside participants, as their turns within one turn of the team leave them. */
export class NestedRounds {
  readonly entries: NestedLedgers[] = [];
  readonly #around: (scope: string) => readonly NamedScope[];
  /** The inner teams that have run, by their scopes. */
  readonly #teams = new Map<string, string>();
  /** The last ledgers of each team, as JSON. */
  readonly #last = new Map<string, { task: string; progress: string }>();

  /** @param around the agents and tools around what is in a scope */
  constructor(around: (scope: string) => readonly NamedScope[]) {
    this.#around = around;
  }

  /** Adds what a turn of an inner team has changed. @param state what the team shows of its state */
  add(scope: string, name: string, state: JsonObject | undefined): void {
    this.#teams.set(scope, name);
    const ledgers = state && ledgersIn(state);
    const task = ledgers?.task_ledger;
    // Before the first plan there is nothing to show.
    if (!ledgers || !task || task.facts + task.plan === "") return;
    const { progress_ledger } = ledgers;
    const last = this.#last.get(scope);
    const now = { task: JSON.stringify(task), progress: JSON.stringify(progress_ledger) };
    if (last?.task === now.task && last.progress === now.progress) return;
    if (this.entries.length === MOST_ENTRIES) return;
    this.#last.set(scope, now);
    const task_ledger = last?.task === now.task ? null : task;
    this.entries.push({ team: this.#participants(scope), task_ledger, progress_ledger });
  }

  /** The participants around a team. A team that an agent runs goes by the name of the agent. */
  #participants(scope: string): string[] {
    const agents = this.#around(scope).map((one) => ({ ...one, isTeam: false }));
    const teams = [...this.#teams]
      .filter(([path]) => isInside(`${scope}/`, path))
      .map(([path, name]) => ({ path, name, isTeam: true }));
    const around = [...agents, ...teams].toSorted(
      (a, b) => a.path.length - b.path.length || Number(a.isTeam) - Number(b.isTeam),
    );
    return around.flatMap(({ name, isTeam }, index) =>
      isTeam && around[index - 1]?.isTeam === false ? [] : [name],
    );
  }
}
