import type { RunInfo } from "troupe/client";
import { visibleName } from "../text/foreign.ts";
import { wordsOfFailure } from "./failure-words.ts";

/** The reason why a run failed, with what to do about it. */
export function FailedBecause({ error }: { error: NonNullable<RunInfo["error"]> }) {
  const { reason, advice } = wordsOfFailure(error);
  return (
    <p className="failed-because">
      {visibleName(reason)}
      {advice !== undefined && <span className="failure-advice">{visibleName(advice)}</span>}
    </p>
  );
}
