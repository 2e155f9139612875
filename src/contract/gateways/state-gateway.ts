import type { Result } from "../result.ts";
import type { StagedState, StatePartEnd, StatePartHeader } from "../state-parts.ts";

/** Some rows of a state, as the lines of a part. */
export interface StatePage {
  state: string;
  turn: number;
  cancelled: boolean;
  lines: string[];
  /** Null at the end. */
  next: string | null;
}

/** The state of a team that is too large for one document, in parts. */
export interface StateGateway {
  /** About a megabyte of a state. @param cursor null begins with the last commit, and all pages that follow are of that one */
  statePage(cursor: string | null): Promise<Result<StatePage>>;
  /**
   * Begins to stage a part, instead of an earlier or concurrent attempt.
   *
   * @returns the name of this attempt
   */
  beginStatePart(header: StatePartHeader): Promise<Result<string>>;
  /** Checks and stages lines of rows. */
  addStateLines(attempt: string, lines: readonly string[]): Promise<Result<null>>;
  endStatePart(attempt: string, end: StatePartEnd): Promise<Result<StagedState>>;
  stagedState(): Promise<Result<StagedState>>;
  discardStagedState(): Promise<Result<null>>;
  /** Makes the staged parts the state of the team, all or nothing. Again: nothing happens. */
  commitStagedState(state: string): Promise<Result<null>>;
}
