import type { Component } from "../component/component.ts";
import type { Json } from "../json.ts";
import type { Message } from "../messages/message.ts";

/** The input of a check besides the messages. */
export interface ConditionEnvironment {
  /** Running time of the current run in milliseconds, without pauses and waits for humans. */
  elapsedMs: number;
  /** The chat's name when the messages are its task; undefined for messages of its participants. */
  receiver?: string | undefined;
}

/** Why a chat stops; becomes the run's `stop_reason` and the content of a StopMessage. */
export interface Stop {
  content: string;
  source: string;
}

export interface ConditionStep<State extends Json = Json> {
  state: State;
  stop?: Stop;
}

/**
 * Decides when a chat ends (AutoGen `TerminationCondition`). Its state is a JSON value that the caller keeps,
 * so it is stored with the team.
 */
export interface TerminationCondition extends Component {
  initialState(): Json;
  /** The state to start over with after a stop or a reset; clears an `ExternalTermination.set` not seen yet. */
  reset(): Json;
  /**
   * Looks at the messages since the last call. A function of its arguments; only `ExternalTermination.set`, for
   * programs that hold the object, comes from outside.
   * @throws TroupeError `already_terminated` when it has fired before and was not reset
   */
  check(state: Json, delta: readonly Message[], environment: ConditionEnvironment): ConditionStep;
  /** True if it has fired already and was not reset. */
  terminated(state: Json): boolean;
  /** True if it has fired as a limit, or from outside: then no turn follows, also where a message waits to be read. Default: false. */
  atLimit?(state: Json): boolean;
  /**
   * The state to continue with after it has fired, because a message waits to be read. What was counted stays. Default:
   * {@link reset}.
   */
  goOn?(state: Json): Json;
  /** Parses a saved state. @throws StateError when it does not belong to this condition */
  parseState(value: unknown): Json;
}
