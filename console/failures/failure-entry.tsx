import { useState } from "react";
import type { FailureGroup } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { counted } from "../parts/numbers.ts";
import { Ago } from "../parts/time.tsx";
import { adviceOf } from "../runs/failure-words.ts";
import { useMay } from "../shell/access.tsx";
import { reasonOfGroup, runsOfError } from "./group.ts";
import { othersOf, RetryGroup } from "./retry-group.tsx";

/** The most runs to which a group links. */
const MOST_LINKS = 5;

interface FailureEntryProps {
  group: FailureGroup;
  /** The first day of the failures; undefined for all. */
  since: string | undefined;
  /** Labels by team id. */
  labels: ReadonlyMap<string, string>;
}

/** A group of failures: why, who, since when, and what can be retried. */
export function FailureEntry({ group, since, labels }: FailureEntryProps) {
  const { error, message, agent, component_version: version, count, teams, latest } = group;
  const [outcome, setOutcome] = useState<readonly string[]>([]);
  const mayRetry = useMay("runs:write");
  const reason = reasonOfGroup(group);
  const advice = adviceOf({ type: error, message, agent });
  return (
    <li className="item">
      <div className="item-main">
        <h2 className="item-problem item-text" title={reason}>
          {reason}
        </h2>
        {advice !== undefined && <p>{advice}</p>}
        <p className="item-facts muted">
          <span>
            {counted(count, "run")} of {counted(teams, "team")}
          </span>
          {agent !== null && (
            <span>
              agent <Name name={agent} />
            </span>
          )}
          {version !== null && <span>version {version} of the team</span>}
          {count > 1 && (
            <span>
              first <Ago time={group.first_at} />
            </span>
          )}
          <span>
            last <Ago time={group.last_at} />
          </span>
        </p>
        <p className="item-facts">
          {latest.slice(0, MOST_LINKS).map(({ team_id, run_id }) => (
            <Link key={`${team_id} ${run_id}`} href={`/teams/${team_id}/runs/${run_id}`}>
              <Name name={labels.get(team_id) ?? team_id} />
            </Link>
          ))}
          <Link href={runsOfError(error, since)}>All runs with {error}</Link>
        </p>
        {mayRetry && <p className="muted">{othersOf(group)}</p>}
        <div role="status">
          {outcome.map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
        </div>
      </div>
      {mayRetry && (
        <div className="item-actions">
          <RetryGroup group={group} onOutcome={setOutcome} />
        </div>
      )}
    </li>
  );
}
