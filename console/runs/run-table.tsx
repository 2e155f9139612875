import type { ListedRun } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { costOf, costOfModels, shortNumber } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { Ago, Elapsed } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";

interface RunTableProps {
  runs: readonly ListedRun[];
  /** Labels by the ids of teams. */
  labels: ReadonlyMap<string, string>;
}

export function RunTable({ runs, labels }: RunTableProps) {
  return (
    <table className="table teams runs">
      <thead>
        <tr>
          <th scope="col">Run</th>
          <th scope="col">Status</th>
          <th scope="col">How it ended</th>
          <th scope="col" className="number">
            Turns
          </th>
          <th scope="col" className="number">
            Tokens
          </th>
          <th scope="col" className="number">
            Cost
          </th>
          <th scope="col" className="number">
            Duration
          </th>
          <th scope="col" className="number">
            Created
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <tr key={`${run.team_id} ${run.id}`}>
            <td>
              <Link className="whole-row" href={`/teams/${run.team_id}/runs/${run.id}`}>
                <Name name={labels.get(run.team_id) ?? run.team_id} />
                <span className="id">{run.id.slice(0, 8)}</span>
              </Link>
            </td>
            <td>
              <Status status={run.status} />
            </td>
            <td className="muted reason" title={visibleName(run.error?.message ?? reasonOf(run))}>
              {run.error === null ? (
                visibleName(reasonOf(run))
              ) : (
                <span className="bad">{visibleName(run.error.type)}</span>
              )}
            </td>
            <td className="number muted">{run.turns}</td>
            <td className="number muted">
              {shortNumber(run.usage.prompt_tokens + run.usage.completion_tokens)}
            </td>
            <td className="number muted">{costIn(run)}</td>
            <td className="number muted">
              {run.started_at && <Elapsed from={run.started_at} to={run.ended_at} />}
            </td>
            <td className="number muted">
              <Ago time={run.created_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function reasonOf({ stop_reason }: ListedRun): string {
  return stop_reason ?? "";
}

function costIn({ models }: ListedRun): string {
  const cost = costOfModels(models);
  return cost === null ? "" : costOf(cost);
}
