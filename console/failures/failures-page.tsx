import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Failure } from "../parts/failure.tsx";
import { Problem } from "../parts/problem.tsx";
import { useTeamLabels } from "../hooks/use-team-labels.ts";
import { useTitle } from "../shell/title.ts";
import { lastDays } from "../usage/period.ts";
import { FailureEntry } from "./failure-entry.tsx";
import { keyOfGroup } from "./group.ts";
import { useFailures } from "./use-failures.ts";

/** Names of periods by the value of `days` in the address, which is the number of days. */
const PERIODS: ReadonlyMap<string, string> = new Map([
  ["2", "Since yesterday"],
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
  ["all", "Any time"],
]);
const USUAL = "7";

/** The failed runs of all teams, in groups of the same reason. The page's address contains the period. */
export function FailuresPage() {
  useTitle("Failures");
  const [parameters, setParameters] = useSearchParams();
  const given = parameters.get("days") ?? USUAL;
  const days = PERIODS.has(given) ? given : USUAL;
  const since = days === "all" ? undefined : lastDays(Number(days), Date.now()).from;
  const { value: groups, error, note, reload, hasMore, loadMore } = useFailures(since);
  const { labels } = useTeamLabels(
    useMemo(
      () => (groups ?? []).flatMap(({ latest }) => latest.map(({ team_id }) => team_id)),
      [groups],
    ),
  );
  if (groups === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  return (
    <div className="page">
      <header className="page-head">
        <h1>Failures</h1>
        <select
          aria-label="Period"
          value={days}
          onChange={({ target }) => setParameters({ days: target.value }, { replace: true })}
        >
          {[...PERIODS].map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <Link className="button" href="/runs">
          All runs
        </Link>
      </header>
      <Problem error={error} />
      {note !== undefined && <p className="muted">{note}</p>}
      {groups === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : groups.length === 0 ? (
        <Empty
          title="No failed runs."
          text={since !== undefined && "Choose a longer period to see earlier ones."}
        />
      ) : (
        <ul className="items" aria-label="Failures">
          {groups.map((group) => (
            <FailureEntry key={keyOfGroup(group)} {...{ group, since, labels }} />
          ))}
        </ul>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}
