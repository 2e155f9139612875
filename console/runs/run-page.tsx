import { lazy, Suspense, useCallback } from "react";
import type { RunInfo } from "troupe/client";
import { Link, useLocation } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { RunBar } from "../team/run-bar.tsx";
import { useTitle } from "../shell/title.ts";
import { visibleName } from "../text/foreign.ts";
import { Timeline } from "../timeline/timeline.tsx";
import { FailedBecause } from "./failed-because.tsx";
import { RunFacts } from "./run-facts.tsx";
import { useRun } from "./use-run.ts";

const Decisions = lazy(() => import("../approvals/decisions.tsx"));

interface RunPageProps {
  teamId: string;
  runId: string;
}

/** One run: its result and its timeline. */
export function RunPage({ teamId, runId }: RunPageProps) {
  const [, navigate] = useLocation();
  const onRetry = useCallback(
    ({ id }: RunInfo) => navigate(`/teams/${teamId}/runs/${id}`),
    [navigate, teamId],
  );
  const { team, run, error, reload, version, bar } = useRun(teamId, runId, onRetry);
  const { value: info } = useLoaded(useCallback(() => team.get(), [team]));
  useTitle(`Run ${runId.slice(0, 8)} of ${visibleName(info?.label ?? teamId)}`);
  if (run === undefined || bar === undefined) {
    return error ? (
      <Failure error={error} onRetry={reload} />
    ) : (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  return (
    <div className="run-page">
      <header className="team-head">
        <Link
          className="button quiet icon-only"
          href={`/teams/${teamId}/runs`}
          aria-label="Runs of this team"
        >
          <Icon name="back" />
        </Link>
        <h1>
          Run <span className="id">{runId.slice(0, 8)}</span>
        </h1>
        <RunBar team={bar} />
      </header>
      {run.error && (
        <div className="problem" role="alert">
          <FailedBecause run={run} component={info?.component} />
        </div>
      )}
      <div>
        <RunFacts run={run} label={info?.label} />
        <Suspense>
          <Decisions team={team} run={runId} version={version} />
        </Suspense>
      </div>
      <Timeline team={team} run={run} version={version} />
    </div>
  );
}
