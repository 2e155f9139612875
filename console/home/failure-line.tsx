import type { FailureGroup } from "troupe/client";
import { Link } from "wouter";
import { reasonOfGroup, runsOfError } from "../failures/group.ts";
import { counted } from "../parts/numbers.ts";
import { Ago } from "../parts/time.tsx";

interface FailureLineProps {
  group: FailureGroup;
  /** The first day of the failures. */
  since: string;
}

/** A group of failures, which leads to the runs with its error. */
export function FailureLine({ group, since }: FailureLineProps) {
  const { error, count, teams, last_at } = group;
  const reason = reasonOfGroup(group);
  return (
    <li>
      <Link className="one-line" href={runsOfError(error, since)} title={reason}>
        {reason}
      </Link>
      <span className="one-line muted">
        {counted(count, "run")} of {counted(teams, "team")}, <Ago time={last_at} />
      </span>
    </li>
  );
}
