import { isOutcomeUnknown } from "./harness/checks.ts";
import type { Outcome } from "./harness/trial.ts";

/** Totals over all trials. */
export class Statistics {
  kills = 0;
  /** Accepted runs and answers that are gone. */
  lost = 0;
  /** Effects of tools that must not be repeated, and items a client got twice. */
  duplicated = 0;
  /** Steps that ran again though their result was recorded. */
  repeated = 0;
  /** Runs in which the outcome of a tool that must not be repeated is unknown. */
  unknown = 0;
  /** Model calls that were made again because the first one's reply was never recorded. */
  madeAgain = 0;

  add(
    { killed, repeated, requests, messages }: Outcome,
    problems: readonly string[],
    digests: number,
  ): void {
    this.kills += killed.length;
    this.repeated += repeated.length;
    this.madeAgain += requests.length - digests;
    this.unknown += isOutcomeUnknown(messages) ? 1 : 0;
    this.lost += problems.filter((problem) => problem.includes("is gone")).length;
    this.duplicated += problems.filter((problem) => problem.includes("never be repeated")).length;
  }

  toString(): string {
    return `${this.kills} kills: ${this.lost} lost, ${this.duplicated} duplicated, ${this.repeated} recorded steps repeated (${this.madeAgain} unrecorded model calls made again, ${this.unknown} unknown outcomes)`;
  }
}
