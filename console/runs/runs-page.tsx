import { type ReactNode, useCallback, useMemo, useState } from "react";
import { Link, useSearchParams } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Failure } from "../parts/failure.tsx";
import { useMay } from "../shell/access.tsx";
import { useTitle } from "../shell/title.ts";
import { type FilterName, filterIn, leavesOut } from "./filter.ts";
import { RunFilters } from "./run-filters.tsx";
import { keyOf, RunTable } from "./run-table.tsx";
import { RunTotalsLine } from "./run-totals.tsx";
import { SelectedRuns } from "./selected-runs.tsx";
import { teamNames } from "./team-names.ts";
import { useRunList } from "./use-run-list.ts";

const NONE: ReadonlySet<string> = new Set();

/** The runs of all teams. The page's address contains the filters and the order. */
export function RunsPage({ teamId }: { teamId?: string }) {
  const [parameters, setParameters] = useSearchParams();
  const address = parameters.toString();
  const filter = useMemo(() => {
    const given = filterIn(new URLSearchParams(address));
    return teamId === undefined ? given : { ...given, team: teamId };
  }, [address, teamId]);
  const list = useRunList(filter);
  const { value: runs, error, counted } = list;
  const mayChange = useMay("runs:write");
  const [selected, setSelected] = useState(NONE);
  const names = useMemo(
    () => teamNames((runs ?? []).map(({ team_id, team_label }) => ({ team: team_id, team_label }))),
    [runs],
  );
  const change = useCallback(
    (name: FilterName, value: string): void => {
      setSelected(NONE);
      setParameters(
        (last) => {
          const next = new URLSearchParams(last);
          if (value === "") next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      );
    },
    [setParameters],
  );

  if (runs === undefined && error !== undefined) {
    return <Failure error={error} onRetry={list.reload} />;
  }
  const isNew = runs?.length === 0 && !leavesOut({ ...filter, ...(teamId && { team: "" }) });
  const total = counted && !isNew && (
    <RunTotalsLine key={JSON.stringify(counted.filter)} {...counted} />
  );
  return (
    <div className="page wide-page">
      {teamId === undefined ? <Head>{total}</Head> : total}
      {!isNew && (
        <RunFilters
          filter={filter}
          onChange={change}
          runs={runs ?? []}
          ofOneTeam={teamId !== undefined}
          names={names}
        />
      )}
      {error && <Failure error={error} onRetry={list.reload} />}
      {runs === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : runs.length > 0 ? (
        <RunTable
          runs={runs}
          names={names}
          order={filter.order}
          onOrder={(order) => change("order", order)}
          selected={mayChange ? selected : undefined}
          onSelect={setSelected}
        />
      ) : isNew ? (
        <Empty title="No runs yet." text="A run starts when a team gets a task.">
          <Link className="button" href="/">
            Show all teams
          </Link>
        </Empty>
      ) : (
        <p className="muted none">
          {list.hasMore ? "No matching runs among those that were searched." : "No matching runs."}
        </p>
      )}
      {list.hasMore && (
        <button className="button" type="button" onClick={list.loadMore}>
          {runs?.length === 0 ? "Search older runs" : "Show more"}
        </button>
      )}
      {selected.size > 0 && (
        <SelectedRuns
          runs={(runs ?? []).filter((run) => selected.has(keyOf(run)))}
          onDone={() => setSelected(NONE)}
        />
      )}
    </div>
  );
}

function Head({ children }: { children: ReactNode }) {
  useTitle("Runs");
  return (
    <header className="page-head">
      <h1>Runs</h1>
      {children}
      <Link className="button" href="/runs/failures">
        Failures
      </Link>
    </header>
  );
}
