import type { Stop, TerminationCondition } from "../conditions/termination-condition.ts";
import { ValueError } from "../errors.ts";
import type { Json } from "../json.ts";
import type { Message } from "../messages/message.ts";
import { isSameComponent } from "../state/take-over.ts";

/** Where a run stands on the way to its end, as it is stored. */
export type EndingHead = { turn: number; started: number; condition: Json };

/** What ends the runs of a group chat: its termination condition and its limit of turns, and how far the run has come. */
export class Ending {
  readonly condition: TerminationCondition | null;
  readonly maxTurns: number | null;
  #conditionState: Json;
  #turn = 0;
  /** When the run began, in its running time: an inner team begins in the middle of an outer run. */
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

  /** Whether the condition has stopped the chat and was not reset since: a state may be saved so. */
  get terminated(): boolean {
    return this.condition?.terminated(this.#conditionState) ?? false;
  }

  /** Turns of the present run. */
  get turn(): number {
    return this.#turn;
  }

  /** The condition's state, to be saved; undefined where there is no condition. */
  get conditionState(): Json | undefined {
    return this.condition ? this.#conditionState : undefined;
  }

  begin(elapsedMs: number): void {
    this.#startedMs = elapsedMs;
  }

  /**
   * Why the run ends after `delta` was said, if it does.
   *
   * @param turns what it counts for
   * @param where `receiver`: the team's own name, where `delta` is its task
   */
  check(
    delta: readonly Message[],
    turns: 0 | 1,
    where: { elapsedMs: number; source: string; receiver: string | undefined },
  ): Stop | undefined {
    if (this.condition) {
      const step = this.condition.check(this.#conditionState, delta, {
        elapsedMs: where.elapsedMs - this.#startedMs,
        receiver: where.receiver,
      });
      this.#conditionState = step.state;
      if (step.stop) return step.stop;
    }
    this.#turn += turns;
    if (this.maxTurns === null || this.#turn < this.maxTurns) return undefined;
    return { content: `Maximum number of turns ${this.maxTurns} reached.`, source: where.source };
  }

  /** The next run counts from the beginning. */
  reset(): void {
    this.#turn = 0;
    this.#conditionState = this.condition?.reset() ?? null;
  }

  /**
   * Reads a saved state of the condition; without one it begins anew.
   *
   * @throws StateError
   */
  parseCondition(state: Json | undefined): Json {
    const { condition } = this;
    return (state === undefined ? condition?.initialState() : condition?.parseState(state)) ?? null;
  }

  /** Takes over a saved state, its condition's {@link parseCondition parsed}. */
  load(turn: number, conditionState: Json): void {
    this.#turn = turn;
    this.#startedMs = 0;
    this.#conditionState = conditionState;
  }

  /** Goes on where another component of the team stood; what is not the same begins anew. */
  takeOver(previous: Ending): void {
    if (isSameComponent(this.condition, previous.condition)) {
      this.#conditionState = previous.#conditionState;
    }
    if (this.maxTurns === previous.maxTurns) this.#turn = previous.#turn;
  }

  head(): EndingHead {
    return { turn: this.#turn, started: this.#startedMs, condition: this.#conditionState };
  }

  loadHead({ turn, started, condition }: EndingHead): void {
    this.#turn = turn;
    this.#startedMs = started;
    this.#conditionState = condition;
  }
}
