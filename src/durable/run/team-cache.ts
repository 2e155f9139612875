import type { ComponentModel } from "../../core/component/component.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import { TeamState } from "../storage/team-state.ts";
import type { Stores } from "../storage/stores.ts";

/** A team in memory, at its last commit. */
export interface LoadedTeam {
  runnable: Runnable;
  state: TeamState;
}

/** Makes a team of its stored component. @throws ComponentError */
export type BuildTeam = (component: ComponentModel) => Promise<Runnable>;

/** Keeps the team in memory between turns, and lets go of it when memory and storage may differ. */
export class TeamCache {
  readonly #stores: Stores;
  readonly #build: BuildTeam;
  #open: Promise<LoadedTeam> | undefined;

  constructor(stores: Stores, build: BuildTeam) {
    this.#stores = stores;
    this.#build = build;
  }

  open(): Promise<LoadedTeam> {
    this.#open ??= this.#load();
    return this.#open;
  }

  /** Puts a team that was just stored in the place of the present one. */
  replace(open: LoadedTeam): void {
    this.drop();
    this.#open = Promise.resolve(open);
  }

  /** The next one to ask gets the last commit. */
  drop(): void {
    const open = this.#open;
    this.#open = undefined;
    open
      ?.then(
        ({ runnable }) => runnable.close(),
        () => undefined,
      )
      .catch(() => undefined); // Nobody is left to tell that a connection could not be closed.
  }

  async #load(): Promise<LoadedTeam> {
    try {
      const runnable = await this.#build(this.#stores.team.component);
      const { db, texts } = this.#stores;
      return { runnable, state: new TeamState(db, texts, runnable, "continued") };
    } catch (error) {
      this.#open = undefined;
      throw error;
    }
  }
}
