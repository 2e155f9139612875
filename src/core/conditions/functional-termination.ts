import { TroupeError } from "../errors.ts";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { MatchTermination } from "./match-termination.ts";

/**
 * Fires when a function of the new messages says so (AutoGen `FunctionalTermination`). For teams made in code: it
 * cannot be written as component JSON.
 */
export class FunctionalTermination extends MatchTermination {
  readonly definition = {
    provider: "autogen_agentchat.conditions.FunctionalTermination",
    componentType: "termination",
    role: "termination",
    version: 1,
  } as const;
  readonly #fires: (delta: readonly Message[]) => boolean;

  /** @param fires must depend on nothing but its argument */
  constructor(fires: (delta: readonly Message[]) => boolean) {
    super();
    this.#fires = fires;
  }

  toConfig(): JsonObject {
    throw new TroupeError(
      "not_serializable",
      "FunctionalTermination holds a function and has no component JSON",
    );
  }

  protected reason(delta: readonly Message[]): string | undefined {
    return this.#fires(delta) ? "Functional termination condition met" : undefined;
  }
}
