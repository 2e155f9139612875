import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { STATUS_WORDS } from "../parts/status.tsx";
import { visibleName } from "../text/foreign.ts";
import { RunTable } from "./run-table.tsx";
import { useRunList } from "./use-run-list.ts";
import { useTeamLabels } from "./use-team-labels.ts";

const STATUSES = ["queued", "running", "waiting", "paused", "completed", "cancelled", "failed"];

/** The runs of all teams. What they are filtered by is in the address. */
export function RunsPage() {
  const [parameters, setParameters] = useSearchParams();
  const status = parameters.get("status") ?? "";
  const team = parameters.get("team") ?? "";
  const list = useRunList({ status, team });
  const { value: runs, error } = list;
  const { teams, labels } = useTeamLabels(
    useMemo(() => (runs ?? []).map(({ team_id }) => team_id), [runs]),
  );
  const filtered = status !== "" || team !== "";
  const choose = (name: "status" | "team", value: string): void => {
    setParameters(
      (last) => {
        const next = new URLSearchParams(last);
        if (value === "") next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  };

  if (runs === undefined && error !== undefined) {
    return <Failure error={error} onRetry={list.reload} />;
  }
  return (
    <div className="page wide-page">
      <header className="page-head">
        <h1>Runs</h1>
        <select
          aria-label="Team"
          className="team-choice"
          value={team}
          onChange={(event) => choose("team", event.target.value)}
        >
          <option value="">Any team</option>
          {team !== "" && !teams.some(({ id }) => id === team) && (
            <option value={team}>{visibleName(team)}</option>
          )}
          {teams.map(({ id }) => (
            <option key={id} value={id}>
              {visibleName(labels.get(id) ?? id)}
            </option>
          ))}
        </select>
        <select
          aria-label="Status"
          value={status}
          onChange={(event) => choose("status", event.target.value)}
        >
          <option value="">Any status</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {STATUS_WORDS[one]}
            </option>
          ))}
        </select>
      </header>
      {runs === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : runs.length > 0 ? (
        <RunTable runs={runs} labels={labels} />
      ) : filtered ? (
        <p className="muted none">No run matches.</p>
      ) : (
        <div className="empty">
          <h2>Nothing has run yet</h2>
          <p className="muted">A run begins when a team is given a task.</p>
          <Link className="button" href="/">
            Show the teams
          </Link>
        </div>
      )}
      {list.hasMore && (
        <button className="button" type="button" onClick={list.loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}
