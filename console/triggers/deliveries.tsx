import { useCallback } from "react";
import type { TeamClient, TriggerDelivery } from "troupe/client";
import { Link } from "wouter";
import { useList } from "../hooks/use-list.ts";
import { Failure } from "../parts/failure.tsx";
import { Ago } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";

const PAGE = 20;
/** Changes of runs, because events start runs. */
const CHANGES = ["run"] as const;

const WORDS: Readonly<Record<TriggerDelivery["status"], string>> = {
  ran: "Started a run",
  filtered: "Filtered",
  skipped: "Skipped",
  refused: "Refused",
};

/** The events that came in for a trigger. */
export function Deliveries({ team, trigger }: { team: TeamClient; trigger: string }) {
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const page = await team.triggers.deliveries(trigger, query);
      return { items: page.deliveries, next: page.next_cursor };
    },
    [team, trigger],
  );
  const { value, error, reload, hasMore, loadMore } = useList(load, CHANGES);
  if (value === undefined) {
    if (error !== undefined) return <Failure error={error} onRetry={reload} />;
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  if (value.length === 0) return <p className="muted">No events in the last seven days.</p>;
  return (
    <>
      <ul className="items" aria-label="Events">
        {value.map(({ id, at, status, run, reason }) => (
          <li key={id} className="item">
            <div className="item-main">
              <p className="item-title">
                {run === undefined ? (
                  WORDS[status]
                ) : (
                  <Link href={`/teams/${team.id}/runs/${run}`}>{WORDS[status]}</Link>
                )}
              </p>
              <p className="muted item-facts">
                <Ago time={at} />
                {reason !== undefined && <span>{reason}</span>}
                <code>{visibleName(id)}</code>
              </p>
            </div>
          </li>
        ))}
      </ul>
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
    </>
  );
}
