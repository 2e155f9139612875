import { useCallback, useEffect } from "react";
import type { Decision, TeamClient } from "troupe/client";
import { ArgumentList } from "../answers/argument-list.tsx";
import { usePages } from "../hooks/use-list.ts";
import { Fold } from "../parts/fold.tsx";
import { Name } from "../parts/name.tsx";
import { Ago } from "../parts/time.tsx";
import { visibleCode, visibleName } from "../text/foreign.ts";
import { reasonsOf } from "./rule-words.ts";

interface DecisionsProps {
  team: TeamClient;
  run: string;
  /** A number that changes when the run may have progressed. */
  version: number;
}

/** The decisions about calls of a run that need approval; nothing for a run without any. */
export default function Decisions({ team, run, version }: DecisionsProps) {
  const load = useCallback(
    async (cursor: string | undefined) => {
      const page = await team.decisions(run, cursor ? { cursor } : {});
      return { items: page.decisions, next: page.next_cursor };
    },
    [team, run],
  );
  const { value: decisions = [], reload, hasMore, loadMore } = usePages(load);
  useEffect(() => {
    if (version > 0) reload();
  }, [reload, version]);
  if (decisions.length === 0) return null;
  return (
    <section className="decisions" aria-label="Decisions">
      <Fold icon="inbox" title="Approvals of this run">
        <ul className="items">
          {decisions.map((decision) => (
            <li key={decision.step} className="item">
              <OneDecision decision={decision} />
            </li>
          ))}
        </ul>
        {hasMore && (
          <button className="button" type="button" onClick={loadMore}>
            Show more
          </button>
        )}
      </Fold>
    </section>
  );
}

function OneDecision({ decision }: { decision: Decision }) {
  const { agent, tool, arguments: given, matched, outcome, by, at } = decision;
  return (
    <div className="item-main">
      <p className="item-title">
        <strong>{outcome === "ran" && by.length > 0 ? "Always allowed" : WORDS[outcome]}</strong>:{" "}
        <Name name={agent} /> calls{" "}
        <code>
          <Name name={tool} />
        </code>
      </p>
      <ArgumentList value={given} />
      {reasonsOf(matched).map((reason) => (
        <p key={reason} className="muted">
          {visibleCode(reason)}
        </p>
      ))}
      <p className="muted item-facts">
        {by.map(({ subject, approved, reason }) => (
          <span key={subject}>
            {approved ? "Approved" : "Refused"} by {visibleName(subject)}
            {reason !== "" && `: ${visibleName(reason)}`}
          </span>
        ))}
        <Ago time={at} />
      </p>
    </div>
  );
}

const WORDS: Readonly<Record<Decision["outcome"], string>> = {
  ran: "No approval needed",
  approved: "Approved",
  refused: "Refused",
  expired: "Expired",
};
