/** The cost of a run that has not ended. */
export interface OpenCost {
  run: string;
  /** The cost of its recorded calls. */
  spent: number;
  /** The cost that its calls under way may reach. */
  reserved: number;
}

/** A model call of a run is about to begin, or one has ended. */
export interface CostClaim extends OpenCost {
  team: string;
  /** The cost that the new call may reach; 0 if none begins. */
  wanted: number;
  /** True if it has waited for others. */
  waited: boolean;
  /** The tokens of the longest answer that the run knows of; undefined before the first. */
  longest: number | undefined;
}

export type CostAnswer =
  /** No budget in money is set. */
  | { do: "unlimited" }
  /**
   * The run may cost `up_to`, the new call included. `is_exact`: no more than it has asked for, because the budget is nearly used
   * up; the end of each call is to be reported.
   */
  | { do: "begin"; up_to: number; is_exact: boolean }
  /** Calls of other runs have to end first. `longest`: the tokens of the longest answer that the tenant knows. */
  | { do: "wait"; longest: number | undefined };
