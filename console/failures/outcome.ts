import { ApiError } from "troupe/client";
import { sentenceOf } from "../parts/error-words.ts";
import { counted } from "../parts/numbers.ts";

/** The reasons for which the server refuses to retry a run. */
const REFUSALS: Readonly<Record<string, string>> = {
  not_latest_run: "The team has a later run.",
  not_retryable: "The run no longer counts as failed, or its team was reset.",
};

/** States how many of the runs were retried, and how many could not be, by reason. */
export function outcomeOf(runs: number, errors: readonly Error[]): string[] {
  const refused = new Map<string, number>();
  for (const error of errors) {
    const reason = reasonFor(error);
    refused.set(reason, (refused.get(reason) ?? 0) + 1);
  }
  return [
    `${counted(runs - errors.length, "run was", "runs were")} retried.`,
    ...[...refused].map(
      ([reason, count]) => `${counted(count, "run")} couldn't be retried: ${reason}`,
    ),
  ];
}

function reasonFor(error: Error): string {
  const known = error instanceof ApiError ? REFUSALS[error.code] : undefined;
  return known ?? sentenceOf(error);
}
