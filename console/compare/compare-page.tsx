import { useCallback, useMemo, useState } from "react";
import type { NotedTeam, ThreadMessage } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { costOf, tokensOf } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { placeInConversation } from "../team/place.ts";
import { useTitle } from "../shell/title.ts";
import { ComparedMessage } from "./compared-message.tsx";
import { diverged } from "./diverged.ts";
import { pairsOf } from "./pairs.ts";

/** Two forks side by side, from the turn where they diverge. */
export function ComparePage() {
  useTitle("Compare");
  const [parameters] = useSearchParams();
  const a = parameters.get("a") ?? "";
  const b = parameters.get("b") ?? "";
  if (a === "" || b === "") {
    return (
      <div className="empty">
        <h1>Compare two teams</h1>
        <p className="muted">
          Fork a conversation from one of its messages. The fork's page then compares it with the
          original.
        </p>
        <Link className="button" href="/">
          Back to teams
        </Link>
      </div>
    );
  }
  return <Comparison key={`${a} ${b}`} a={a} b={b} />;
}

/** Pairs that are shown at once. */
const PAGE = 100;

function Comparison({ a, b }: { a: string; b: string }) {
  const client = useTroupe();
  const [marked, setMarked] = useState(true);
  const [shown, setShown] = useState(PAGE);
  const load = useCallback(async () => {
    const teams = [client.team(a), client.team(b)] as const;
    const [parted, left, right] = await Promise.all([
      diverged(...teams),
      teams[0].get(),
      teams[1].get(),
    ]);
    return { parted, left, right };
  }, [client, a, b]);
  const { value, error, reload } = useLoaded(load);
  const pairs = useMemo(() => (value ? pairsOf(value.parted.a, value.parted.b) : []), [value]);
  if (value === undefined) {
    return error ? (
      <Failure error={error} onRetry={reload} />
    ) : (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  const { parted, left, right } = value;
  return (
    <div className="page compare-page">
      <header className="page-head">
        <h1>Compare</h1>
        <label className="check">
          <input
            type="checkbox"
            checked={marked}
            onChange={(event) => setMarked(event.target.checked)}
          />
          Mark differences
        </label>
        <button
          className="button icon-only"
          type="button"
          aria-label="Reload"
          title="Reload"
          onClick={reload}
        >
          <Icon name="retry" />
        </button>
      </header>
      <div className="compare-heads">
        <TeamHead team={left} />
        <TeamHead team={right} />
      </div>
      <Common messages={parted.common} hasEarlier={parted.hasEarlier} team={a} />
      {pairs.length === 0 && (
        <p className="muted none">Neither team has messages after this point.</p>
      )}
      <ol className="pairs" aria-label="Messages after the common part">
        {pairs.slice(0, shown).map((pair) => (
          <li key={`${pair.a?.id} ${pair.b?.id}`} className="pair">
            {pair.a ? (
              <ComparedMessage message={pair.a} other={pair.b} side="a" marked={marked} />
            ) : (
              <Missing />
            )}
            {pair.b ? (
              <ComparedMessage message={pair.b} other={pair.a} side="b" marked={marked} />
            ) : (
              <Missing />
            )}
          </li>
        ))}
      </ol>
      {pairs.length > shown && (
        <button className="button" type="button" onClick={() => setShown(shown + PAGE)}>
          Show more
        </button>
      )}
    </div>
  );
}

function Missing() {
  return (
    <p className="missing">
      <span className="hidden">No matching message</span>
    </p>
  );
}

function TeamHead({ team }: { team: NotedTeam }) {
  const { id, label, status, usage, cost, turn, forked_from: origin } = team;
  return (
    <div className="compare-head">
      <h2>
        <Link href={`/teams/${id}`}>
          <Name name={label ?? id} />
        </Link>
      </h2>
      <p className="muted">
        {origin ? `Fork, from turn ${origin.turn}` : "Original"}, now at turn {turn}
      </p>
      <p className="muted compare-numbers">
        <Status status={status} />
        <span>{tokensOf(usage)}</span>
        {cost !== null && <span>{costOf(cost)}</span>}
        <code>{id}</code>
      </p>
    </div>
  );
}

interface CommonProps {
  messages: readonly ThreadMessage[];
  hasEarlier: boolean;
  team: string;
}

/** Common messages that are shown. */
const NEAR = 30;

/** The common messages, folded. */
function Common({ messages, hasEarlier, team }: CommonProps) {
  const [open, setOpen] = useState(false);
  const last = messages.at(-1);
  const near = messages.slice(-NEAR);
  if (last === undefined) return <p className="muted">The two teams have no messages in common.</p>;
  const count = `${messages.length}${hasEarlier ? " or more" : ""}`;
  return (
    <details className="common" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {count} {messages.length === 1 ? "message" : "messages"} in common, up to turn {last.turn}
      </summary>
      {(hasEarlier || near.length < messages.length) && (
        <p className="muted">
          <Link href={placeInConversation(team, near[0]?.turn ?? 1)}>
            Earlier messages are in the conversation
          </Link>
        </p>
      )}
      {open &&
        near.map((message) => (
          <ComparedMessage
            key={message.id}
            message={message}
            other={undefined}
            side="a"
            marked={false}
          />
        ))}
    </details>
  );
}
