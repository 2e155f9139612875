import type { Stop, TerminationCondition } from "../conditions/termination-condition.ts";
import { ValueError } from "../errors.ts";
import type { Json } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { isSameComponent } from "../state/migrate-state.ts";
import type { TurnContext } from "../turn/turn-context.ts";

/** The progress of a run towards its end, as it is stored. */
export type RunTerminationHead = { turn: number; started: number; condition: Json };

/** Ends the runs of a group chat: its termination condition, its limit of turns and the present run's progress. */
export class RunTermination {
  readonly condition: TerminationCondition | null;
  readonly maxTurns: number | null;
  #conditionState: Json;
  #turn = 0;
  /** When the run began, in running time of the outermost run: an inner team starts part-way through it. */
  #startedMs = 0;

  /** @throws ValueError when `maxTurns` is not positive */
  constructor(condition: TerminationCondition | null, maxTurns: number | null) {
    if (maxTurns !== null && maxTurns <= 0) {
      const message = `must be greater than 0, not ${maxTurns}`;
      throw new ValueError(`max_turns ${message}`, { issues: [{ path: "max_turns", message }] });
    }
    this.condition = condition;
    this.maxTurns = maxTurns;
    this.#conditionState = condition?.initialState() ?? null;
  }

  /** True if the condition has stopped the chat and was not reset since: a saved state may say so. */
  get terminated(): boolean {
    return this.condition?.terminated(this.#conditionState) ?? false;
  }

  /** Turns of the present run so far. */
  get turn(): number {
    return this.#turn;
  }

  /** The condition's state to save; undefined without a condition. */
  get conditionState(): Json | undefined {
    return this.condition ? this.#conditionState : undefined;
  }

  begin(elapsedMs: number): void {
    this.#startedMs = elapsedMs;
  }

  /**
   * Why the run ends after the new messages in `delta`; undefined when it continues.
   *
   * @param turns how many turns they count for
   * @param where `clock`: the running time; `receiver`: the team's name when `delta` is its task
   */
  check(
    delta: readonly Message[],
    turns: 0 | 1,
    where: {
      clock: Pick<TurnContext, "elapsedMs">;
      source: string;
      receiver: string | undefined;
    },
  ): Stop | undefined {
    if (this.condition) {
      const step = this.condition.check(this.#conditionState, delta, {
        elapsedMs: where.clock.elapsedMs - this.#startedMs,
        receiver: where.receiver,
      });
      this.#conditionState = step.state;
      if (step.stop) return step.stop;
    }
    this.#turn += turns;
    if (this.maxTurns === null || this.#turn < this.maxTurns) return undefined;
    return { content: `Maximum number of turns ${this.maxTurns} reached.`, source: where.source };
  }

  /** Starts counting again for the next run. */
  reset(): void {
    this.#turn = 0;
    this.#conditionState = this.condition?.reset() ?? null;
  }

  /**
   * Parses a saved state of the condition; without one it starts fresh.
   *
   * @throws StateError
   */
  parseCondition(state: Json | undefined): Json {
    const { condition } = this;
    return (state === undefined ? condition?.initialState() : condition?.parseState(state)) ?? null;
  }

  /** Loads a saved state whose condition was {@link parseCondition parsed}. */
  load(turn: number, conditionState: Json): void {
    this.#turn = turn;
    this.#startedMs = 0;
    this.#conditionState = conditionState;
  }

  /** Continues from the replaced component; a condition or limit that differs starts fresh. */
  continueFrom(previous: RunTermination): void {
    if (isSameComponent(this.condition, previous.condition)) {
      this.#conditionState = previous.#conditionState;
    }
    if (this.maxTurns === previous.maxTurns) this.#turn = previous.#turn;
  }

  head(): RunTerminationHead {
    return { turn: this.#turn, started: this.#startedMs, condition: this.#conditionState };
  }

  loadHead({ turn, started, condition }: RunTerminationHead): void {
    this.#turn = turn;
    this.#startedMs = started;
    this.#conditionState = condition;
  }
}
