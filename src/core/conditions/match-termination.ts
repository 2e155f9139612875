import * as z from "zod";
import { className } from "../component/providers.ts";
import type { Message } from "../messages/message.ts";
import { BaseTermination } from "./base-termination.ts";
import type { ConditionEnvironment, ConditionStep } from "./termination-condition.ts";

export type MatchTerminationState = { terminated: boolean };

const matchStateSchema = z.object({ terminated: z.boolean() });

/** A condition that checks the new messages only; its state is whether it has fired. */
export abstract class MatchTermination extends BaseTermination<MatchTerminationState> {
  protected readonly stateSchema = matchStateSchema;

  /** The stop reason if these messages end the chat; otherwise undefined. */
  protected abstract reason(
    delta: readonly Message[],
    environment: ConditionEnvironment,
  ): string | undefined;

  initialState(): MatchTerminationState {
    return { terminated: false };
  }

  terminated(state: MatchTerminationState): boolean {
    return state.terminated;
  }

  protected next(
    state: MatchTerminationState,
    delta: readonly Message[],
    environment: ConditionEnvironment,
  ): ConditionStep<MatchTerminationState> {
    const content = this.reason(delta, environment);
    if (content === undefined) return { state };
    return {
      state: { terminated: true },
      stop: { content, source: className(this.definition.provider) },
    };
  }
}
