import type { Result } from "../result.ts";
import type { StagedState, StatePartEnd, StatePartHeader } from "../team/state-parts.ts";

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
  /**
   * A page of about a megabyte. @param cursor null starts with the last commit, and all following pages belong to that
   * commit
   */
  statePage(cursor: string | null): Promise<Result<StatePage>>;
  /**
   * Starts to stage a part, and replaces an earlier or concurrent attempt.
   *
   * @returns the id of this attempt
   */
  beginStatePart(header: StatePartHeader): Promise<Result<string>>;
  /** Checks and stages lines of rows. */
  addStateLines(attempt: string, lines: readonly string[]): Promise<Result<null>>;
  endStatePart(attempt: string, end: StatePartEnd): Promise<Result<StagedState>>;
}
