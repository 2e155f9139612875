import * as z from "zod";
import type { JsonObject } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { BaseTermination } from "./base-termination.ts";
import { conditionDefinition } from "./match-termination.ts";
import type { ConditionDefinition, ConditionStep } from "./termination-condition.ts";

type SwitchState = { requested: boolean; terminated: boolean };

/**
 * Fires after somebody asked for it: a program that holds the object by {@link set}, others through the team, which
 * writes it into the condition's state (AutoGen `ExternalTermination`).
 */
export class ExternalTermination extends BaseTermination<SwitchState> {
  static readonly component = conditionDefinition({
    name: "ExternalTermination",
    configSchema: z.object({}),
    fromConfig: () => new ExternalTermination(),
  });
  readonly definition: ConditionDefinition = ExternalTermination.component;
  protected readonly stateSchema = z.object({ requested: z.boolean(), terminated: z.boolean() });
  /** Pressed and not yet seen: the next check moves it into the state. */
  #pressed = false;

  /** Ends the chat after the turn that is running, or after the first of the next run. */
  set(): void {
    this.#pressed = true;
  }

  toConfig(): JsonObject {
    return {};
  }

  initialState(): SwitchState {
    return { requested: false, terminated: false };
  }

  override reset(): SwitchState {
    this.#pressed = false;
    return this.initialState();
  }

  terminated(state: SwitchState): boolean {
    return state.terminated;
  }

  override withExternalStop(state: SwitchState): SwitchState {
    return { ...state, requested: true };
  }

  protected next(state: SwitchState, _delta: readonly Message[]): ConditionStep<SwitchState> {
    if (!state.requested && !this.#pressed) return { state };
    this.#pressed = false;
    return {
      state: { requested: true, terminated: true },
      stop: { content: "External termination requested", source: "ExternalTermination" },
    };
  }
}
