import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import {
  observersOf,
  type RunObservers,
  type SharedParts,
  sharedPartsOf,
} from "../../core/run/run-observer.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { standsAtCancellation } from "../storage/log/commits.ts";
import { isOver } from "../storage/runs/run-store.ts";
import { TeamState } from "../storage/team-state.ts";
import type { Stores } from "../storage/stores.ts";

/** A team in memory, at its last commit. */
export interface LoadedTeam extends SharedParts {
  runnable: Runnable;
  state: TeamState;
  observers: RunObservers;
  /** False when it was built without secrets that cannot be read. */
  runs: boolean;
}

/** Builds a team from its stored component. @throws ComponentError */
export type BuildTeam = (component: ComponentModel) => Promise<Runnable>;

/** Builds a team for its state, also when secrets of it cannot be read; `runs` is false then. @throws ComponentError */
export type BuildReadable = (
  component: ComponentModel,
) => Promise<Pick<LoadedTeam, "runnable" | "runs">>;

/**
 * Builds the team of the last commit. A run that was cancelled after it has ended like any other: conditions and counters
 * start over, unless a retry continues the run. A cancellation stores nothing of that, because it must not wait for a build.
 *
 * @param at `committed` leaves out what a cancellation changes
 * @throws ComponentError
 */
export async function loadTeam(
  stores: Stores,
  build: BuildReadable,
  at: "present" | "committed" = "present",
): Promise<LoadedTeam> {
  const { runnable, runs } = await build(stores.team.component);
  const state = new TeamState(stores, runnable, "continued");
  const open = { runnable, runs, state, ...runPartsOf(runnable, stores) };
  if (at === "present" && !isRetrying(stores) && standsAtCancellation(stores)) runnable.stop();
  return open;
}

/** The parts of a team that take part in its runs. Its state must be loaded. */
export function runPartsOf(
  runnable: Runnable,
  { board: changes }: Stores,
): Pick<LoadedTeam, "observers"> & SharedParts {
  const shared = sharedPartsOf(runnable);
  if (shared.board !== undefined) shared.board.incoming = () => changes.changes;
  return { observers: observersOf(runnable), ...shared };
}

function isRetrying({ runs }: Stores): boolean {
  const record = runs.last()?.record;
  return record !== undefined && record.retry_of !== null && !isOver(record);
}

/** Keeps the team in memory between turns, until memory and storage may differ. */
export class TeamCache {
  readonly #stores: Stores;
  readonly #build: BuildTeam;
  #open: Promise<LoadedTeam> | undefined;
  #visibleState: JsonObject = {};

  constructor(stores: Stores, build: BuildTeam) {
    this.#stores = stores;
    this.#build = build;
  }

  open(): Promise<LoadedTeam> {
    this.#open ??= this.#load();
    return this.#open;
  }

  /** The visible state of the team as of its last commit; `{}` until it was loaded. */
  get visibleState(): JsonObject {
    return this.#visibleState;
  }

  /** The open team was committed. Returns what it shows of its state. */
  committed({ runnable, shared, board }: LoadedTeam): JsonObject {
    this.#visibleState = {
      ...runnable.visibleState?.(),
      ...(shared !== undefined && { shared_state: shared.value }),
      ...(board !== undefined && { tasks: board.list.tasks as unknown as JsonObject[] }),
    };
    return this.#visibleState;
  }

  /** Replaces the team by one that was just stored. One that cannot run is not kept: the next run fails with the reason. */
  replace(open: LoadedTeam): void {
    this.drop();
    this.#open = Promise.resolve(open);
    this.committed(open);
    if (!open.runs) this.drop();
  }

  /** Closes the team; the next {@link open} loads the last commit. */
  drop(): void {
    const open = this.#open;
    this.#open = undefined;
    open
      ?.then(
        ({ runnable }) => runnable.close(),
        () => undefined,
      )
      .catch(() => undefined); // A connection that could not be closed concerns no caller.
  }

  async #load(): Promise<LoadedTeam> {
    try {
      const open = await loadTeam(this.#stores, async (component) => ({
        runnable: await this.#build(component),
        runs: true,
      }));
      this.committed(open);
      return open;
    } catch (error) {
      this.#open = undefined;
      throw error;
    }
  }
}
