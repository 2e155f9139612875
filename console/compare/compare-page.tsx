import { counted } from "../parts/numbers.ts";
import { useEffect, useMemo, useState } from "react";
import type { Message } from "troupe/client";
import { type TeamView, useTeam } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { placeInConversation } from "../team/place.ts";
import { useTitle } from "../shell/title.ts";
import { CompareHead } from "./compare-head.tsx";
import { ComparedMessage } from "./compared-message.tsx";
import { diverged } from "./diverged.ts";
import { pairsOf } from "./pairs.ts";
import { saidIn } from "./said.ts";

/** Two forks side by side, from the turn where they diverge. Both are followed live. */
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
/** Messages that are loaded at once. */
const LOADED = 200;

function Comparison({ a, b }: { a: string; b: string }) {
  const [marked, setMarked] = useState(true);
  const [shown, setShown] = useState(PAGE);
  const left = useTeam(a, { pageSize: LOADED });
  const right = useTeam(b, { pageSize: LOADED });
  const parted = useMemo(
    () => (isLoaded(left) && isLoaded(right) ? diverged(left, right) : undefined),
    [left.status, left.messages, left.hasEarlier, right.status, right.messages, right.hasEarlier],
  );
  useMissing(left, right, parted === undefined);
  const pairs = useMemo(
    () => (parted ? pairsOf(saidIn(parted.a, left), saidIn(parted.b, right)) : []),
    [parted, left.texts, left.turns, right.texts, right.turns],
  );
  const failed = [left, right].find(({ status }) => status === "unavailable");
  if (failed?.error) return <Failure error={failed.error} onRetry={failed.reload} />;
  if (parted === undefined) {
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
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
      </header>
      <div className="compare-heads">
        <CompareHead id={a} team={left} />
        <CompareHead id={b} team={right} />
      </div>
      <Common messages={parted.common} hasEarlier={parted.hasEarlier} team={a} turns={left.turns} />
      {pairs.length === 0 && (
        <p className="muted none">Neither team has messages after this point yet.</p>
      )}
      <ol className="pairs" aria-label="Messages after the common part">
        {pairs.slice(0, shown).map((pair) => (
          <li key={pair.a?.id ?? pair.b?.id} className="pair">
            {pair.a ? (
              <ComparedMessage said={pair.a} other={pair.b} side="a" marked={marked} />
            ) : (
              <Missing />
            )}
            {pair.b ? (
              <ComparedMessage said={pair.b} other={pair.a} side="b" marked={marked} />
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

/** True once its conversation can be compared. */
function isLoaded({ status }: TeamView): boolean {
  return status !== "connecting" && status !== "unavailable";
}

/** Loads earlier messages of both teams until a common one is found. */
function useMissing(left: TeamView, right: TeamView, isMissing: boolean): void {
  useEffect(() => {
    if (!isMissing) return;
    // A page that failed to load is requested again with the next change.
    for (const team of [left, right]) {
      if (isLoaded(team) && team.hasEarlier) team.loadEarlier().catch(() => undefined);
    }
  }, [isMissing, left.status, left.messages, right.status, right.messages]);
}

interface CommonProps {
  messages: readonly Message[];
  hasEarlier: boolean;
  team: string;
  turns: TeamView["turns"];
}

/** Common messages that are shown. */
const NEAR = 30;

/** The common messages, folded. */
function Common({ messages, hasEarlier, team, turns }: CommonProps) {
  const [open, setOpen] = useState(false);
  const last = messages.at(-1);
  const near = useMemo(
    () => saidIn(messages.slice(-NEAR), { texts: [], turns }),
    [messages, turns],
  );
  const turn = near.findLast((said) => said.turn !== undefined)?.turn;
  if (last === undefined) return <p className="muted">The two teams have no messages in common.</p>;
  return (
    <details className="common" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {hasEarlier && "At least "}
        {counted(messages.length, "message")} in common
        {turn !== undefined && `, up to turn ${turn}`}
      </summary>
      {(hasEarlier || near.length < messages.length) && (
        <p className="muted">
          <Link href={placeInConversation(team, near[0]?.turn ?? 1)}>
            Earlier messages are in the conversation
          </Link>
        </p>
      )}
      {open &&
        near.map((said) => (
          <ComparedMessage key={said.id} said={said} other={undefined} side="a" marked={false} />
        ))}
    </details>
  );
}
