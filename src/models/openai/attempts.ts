import { refusalOf } from "./refusals.ts";
import type { Route, Routes } from "./routes.ts";
import type { ServerHabits } from "./server-habits.ts";

/** The attempts to make one request: where a server refuses it, it is made in another way, each way once. */
export class Attempts {
  readonly #habits: ServerHabits;
  readonly #left: Route[];
  readonly #dropReasoning: () => boolean;
  #route: Route;
  /** The habits by which the request was written: another request may have changed them since. */
  #asked: ServerHabits["account"];
  #count = 0;
  #hasMoved = false;
  /** What chat completions said when it named the other API. */
  #chatError: unknown;

  /**
   * @param dropReasoning leaves out the reasoning of earlier answers; returns whether there was any
   */
  constructor(routes: Routes, habits: ServerHabits, dropReasoning: () => boolean) {
    this.#habits = habits;
    this.#asked = { ...habits.account };
    this.#dropReasoning = dropReasoning;
    this.#route = routes.find(({ path }) => path === habits.server.path) ?? routes[0];
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
    if (!this.#changes(error)) return false;
    this.#count++;
    this.#asked = { ...this.#habits.account };
    return true;
  }

  /** Remembers the route that was found. */
  succeeded(): void {
    if (this.#hasMoved) this.#habits.server.path = this.#route.path;
  }

  /** The error to report once there is no other way: a server that lacks responses has said more by chat completions. */
  failure(error: unknown): unknown {
    const { api } = this.#route;
    const lacksApi = api === "responses" && refusalOf(error, api) === "api";
    return lacksApi ? (this.#chatError ?? error) : error;
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
        if (route === undefined) return false;
        if (api === "chat_completions") this.#chatError = error;
        this.#route = route;
        this.#hasMoved = true;
        return true;
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
    this.#habits.account[habit] = false;
    return this.#asked[habit];
  }
}
