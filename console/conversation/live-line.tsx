import { beginningOf } from "troupe/client";
import { useMemo } from "react";
import { useNow } from "../hooks/use-now.ts";
import { durationOf } from "../parts/numbers.ts";
import { visibleName } from "../text/foreign.ts";
import type { Doing } from "./live.ts";

interface LiveLineProps {
  doing: Doing;
  /** The lead of the server's clock, in milliseconds. */
  ahead: number;
  /** The pause or cancellation that follows this step or turn. */
  soon: string | undefined;
}

/** The present activity of an agent and its duration, or the time of its next attempt. */
export function LiveLine({ doing, ahead, soon }: LiveLineProps) {
  const { words, detail, since, until } = doing;
  const now = useNow(since === null && until === null ? null : 1_000) + ahead;
  const left = until === null ? 0 : Date.parse(until) - now;
  const lasted = since === null ? 0 : Math.floor((now - Date.parse(since)) / 1_000) * 1_000;
  const displayed = useMemo(() => visibleName(beginningOf(detail, 300)), [detail]);
  return (
    <p className="live" data-waits={until !== null}>
      <span className="live-words">{visibleName(words)}</span>
      {until !== null && (
        <span className="live-time">
          {left > 0 ? `in ${durationOf(Math.ceil(left / 1_000) * 1_000)}` : "now"}
        </span>
      )}
      {lasted >= 1_000 && <span className="live-time">{durationOf(lasted)}</span>}
      {soon !== undefined && <span className="live-soon">{soon}</span>}
      {displayed !== "" && (
        <code className="live-detail" title={displayed}>
          {displayed}
        </code>
      )}
    </p>
  );
}
