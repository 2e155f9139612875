import { reasonOf } from "../runs/failure-words.ts";
import { useCallback, useEffect, useMemo } from "react";
import { useTroupe, type TeamView } from "troupe/react";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { costOf, tokensOf } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { totalOf } from "../team/total.ts";

interface CompareHeadProps {
  id: string;
  team: TeamView;
}

/** One of the compared teams with its status and numbers, which follow its run. */
export function CompareHead({ id, team }: CompareHeadProps) {
  const client = useTroupe();
  const { value: info, reload } = useLoaded(useCallback(() => client.team(id).get(), [client, id]));
  const { status, connected, run, requests } = team;
  useEffect(() => {
    if (status !== "connecting") reload();
  }, [status, reload]);
  const since = useMemo(() => run, [info]);
  const total = info && totalOf(info, run, since);
  const origin = info?.forked_from;
  return (
    <div className="compare-head">
      <h2>
        <Link href={`/teams/${id}`}>
          <Name name={info?.label ?? id} />
        </Link>
      </h2>
      <p className="muted">
        {origin ? `Fork, from turn ${origin.turn}` : "Original"}, now at turn{" "}
        {Math.max(info?.turn ?? 0, run?.turn ?? 0)}
        {info && (
          <>
            , <Link href={`/teams/${id}/versions`}>version {info.component_version}</Link> of its
            component
          </>
        )}
      </p>
      <p className="muted compare-numbers">
        {connected ? <Status status={status} /> : <span>Reconnecting</span>}
        {total && <span>{tokensOf(total.usage)}</span>}
        {total && total.cost !== null && <span>{costOf(total.cost)}</span>}
        <code>{id}</code>
      </p>
      {run?.error && (
        <p className="problem" role="alert">
          {reasonOf(run.error)}
        </p>
      )}
      {requests.length > 0 && (
        <p className="muted">
          It is waiting for an answer. <Link href={`/teams/${id}`}>Answer</Link>
        </p>
      )}
    </div>
  );
}
