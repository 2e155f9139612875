/** Why a request is refused. */
export interface Refusal {
  problem: string;
  /** Default: 400. */
  status?: number;
  code?: string;
  /** The parameter that is wrong. */
  param?: string;
}
