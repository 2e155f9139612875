import { errorMessage, TroupeError } from "../errors.ts";
import { failingAgent } from "./failing-agent.ts";

/** The place at which a run failed. */
export interface RunPlace {
  /** The innermost agent that failed; null if it was a manager, a condition or the host. */
  agent: string | null;
  /** 0 relays the task; the first decision of a team, and the answer of an agent, is turn 1. */
  turn: number;
  /** The path of the step in its turn, `speaker:writer/model:0`; null if the failure was not in a step. */
  step: string | null;
}

/** A turn failed. `cause` is the error that was thrown; this error has the code, data and issues of its cause. */
export class RunError extends TroupeError implements RunPlace {
  readonly agent: string | null;
  readonly turn: number;
  readonly step: string | null;

  constructor(cause: unknown, { agent, turn, step }: RunPlace) {
    const who = agent === null ? "The run" : `The agent "${agent}"`;
    const where = step === null ? `turn ${turn}` : `turn ${turn}, step "${step}"`;
    const { code, data, issues } = cause instanceof TroupeError ? cause : UNKNOWN;
    super(code, `${who} failed in ${where}: ${errorMessage(cause)}`, {
      data: { ...data, agent, turn, step },
      issues,
      cause,
    });
    this.agent = agent;
    this.turn = turn;
    this.step = step;
  }
}

const UNKNOWN = { code: "run_failed", data: {}, issues: [] };

/** The steps in which errors were thrown, by error. */
export class FailedSteps {
  readonly #steps = new WeakMap<object, string>();

  note(error: unknown, step: string): void {
    if (typeof error === "object" && error !== null) this.#steps.set(error, step);
  }

  /** The error of a turn, with its location. */
  runError(error: unknown, turn: number): RunError {
    let step: string | null = null;
    for (let cause = error; cause instanceof Error; cause = cause.cause) {
      step = this.#steps.get(cause) ?? step;
    }
    return new RunError(error, { agent: failingAgent(error), turn, step });
  }
}
