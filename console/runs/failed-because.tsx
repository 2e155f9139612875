import type { RunInfo } from "troupe/client";
import { Link } from "wouter";
import { fieldAddress, keyPath } from "../component/field-address.ts";
import { useMay } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
import { adviceOf, fieldToChange, reasonOf } from "./failure-words.ts";

interface FailedBecauseProps {
  run: Pick<RunInfo, "team_id" | "error">;
  /** The component of the team; undefined while it is loading. */
  component: unknown;
}

/** The reason why a run failed, with what to do about it and, for a credential that may change it, a link to the field. */
export function FailedBecause({ run: { team_id, error }, component }: FailedBecauseProps) {
  const mayChange = useMay("teams:write");
  if (error === null) return null;
  const advice = adviceOf(error);
  const field = fieldToChange(error);
  // Teams have no name.
  const key = field && keyPath(component, error.agent ?? "");
  return (
    <div className="failed-because">
      <p>{reasonOf(error)}</p>
      {advice !== undefined && <p className="failure-advice">{advice}</p>}
      {mayChange && key && (
        <Link href={fieldAddress(team_id, field === "key" ? key : key.slice(0, -2))}>
          {field === "key" ? "Change the key of " : "Change the model of "}
          {error.agent === null ? "the team" : visibleName(error.agent)}
        </Link>
      )}
    </div>
  );
}
