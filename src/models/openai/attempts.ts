import { refusalOf } from "./refusals.ts";
import type { Route, Routes } from "./routes.ts";
import type { ServerHabits } from "./server-habits.ts";

/** The attempts to make one request: where a server refuses it, it is made in another way, each way once. */
export class Attempts {
  readonly #habits: ServerHabits;
  readonly #left: Route[];
  readonly #dropReasoning: () => boolean;
  #route: Route;
  #count = 0;

  /**
   * @param dropReasoning leaves out the reasoning of earlier answers; returns whether there was any
   */
  constructor(routes: Routes, habits: ServerHabits, dropReasoning: () => boolean) {
    this.#habits = habits;
    this.#dropReasoning = dropReasoning;
    this.#route = routes.find(({ path }) => path === habits.path) ?? routes[0];
    this.#left = routes.filter((route) => route !== this.#route);
  }

  get route(): Route {
    return this.#route;
  }

  /** How many were refused. */
  get count(): number {
    return this.#count;
  }

  /** Whether to ask once more, in another way, after an error of the SDK. */
  again(error: unknown): boolean {
    const isOther = this.#changes(error);
    if (isOther) this.#count++;
    return isOther;
  }

  /** Remembers the route that was found. */
  succeeded(): void {
    if (this.#count > 0) this.#habits.path = this.#route.path;
  }

  #changes(error: unknown): boolean {
    const { api } = this.#route;
    switch (refusalOf(error, api)) {
      case "api": {
        // Chat completions refuses a model by naming the other API; a server without that one has chat completions.
        const next = this.#left.findIndex(
          (route) => api === "responses" || route.api === "responses",
        );
        const [route] = next === -1 ? [] : this.#left.splice(next, 1);
        this.#route = route ?? this.#route;
        return route !== undefined;
      }
      case "reasoning":
        return this.#dropReasoning();
      case "summary":
        return this.#turnOff("summaries");
      case "encryption":
        return this.#turnOff("encryption");
      case undefined:
        return false;
    }
  }

  #turnOff(habit: "summaries" | "encryption"): boolean {
    const wasOn = this.#habits[habit];
    this.#habits[habit] = false;
    return wasOn;
  }
}
