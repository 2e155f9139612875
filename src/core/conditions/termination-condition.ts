import type { Component } from "../component/component.ts";
import type { Json } from "../json.ts";
import type { Message } from "../messages/message.ts";

/** What a condition may know besides the messages. */
export interface ConditionEnvironment {
  /** Milliseconds the run has been running: waiting for humans and pauses left out. */
  elapsedMs: number;
}

/** Why a chat stops; becomes the run's `stop_reason` and the content of a StopMessage. */
export interface Stop {
  content: string;
  source: string;
}

export interface ConditionStep {
  state: Json;
  stop?: Stop;
}

/**
 * Decides when a chat ends (AutoGen `TerminationCondition`). Its memory is a JSON value kept by whoever asks it, so
 * it survives with the team.
 */
export interface TerminationCondition extends Component {
  initialState(): Json;
  /** Looks at the messages since the last call. Must be pure. */
  check(state: Json, delta: readonly Message[], environment: ConditionEnvironment): ConditionStep;
  /** Whether it has fired already and was not reset. */
  terminated(state: Json): boolean;
  /** State after somebody pressed every external switch inside it (AutoGen `ExternalTermination.set`). */
  withExternalStop(state: Json): Json;
}
