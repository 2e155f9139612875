import { useMemo, useState } from "react";
import type { Answer, ListedRequest } from "troupe/client";
import { useInbox } from "troupe/react";
import { useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { HeadingLevel } from "../parts/heading.tsx";
import { Icon } from "../parts/icon.tsx";
import { counted } from "../parts/numbers.ts";
import { visibleName } from "../text/foreign.ts";
import { useNotices } from "../shell/notices.tsx";
import { useTitle } from "../shell/title.ts";
import { AnswerTogether, groupOf } from "./answer-together.tsx";
import { useNotifications } from "./notifications.ts";
import { RequestCard } from "./request-card.tsx";
import { useCardKeys } from "./use-card-keys.ts";
import { type AnswerQueue, useDelayedAnswers } from "./use-delayed-answers.ts";
import { answerKeyOf, useKept } from "./use-kept.ts";
import { useSteady } from "./use-steady.ts";

/** The questions that wait for a human. The page's address contains the filter. */
export function InboxPage() {
  useTitle("Inbox");
  const [parameters, setParameters] = useSearchParams();
  const team = parameters.get("team") ?? "";
  const answers = useDelayedAnswers();
  return (
    <div className="page inbox">
      <header className="page-head">
        <h1>Inbox</h1>
        <TeamFilter
          team={team}
          onChange={(next) => setParameters(next === "" ? {} : { team: next }, { replace: true })}
        />
        <NotificationSwitch />
      </header>
      <p className="keys muted">
        <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>a</kbd> approve or answer, <kbd>r</kbd>{" "}
        refuse, <kbd>e</kbd> edit or fill in
      </p>
      <HeadingLevel value={2}>
        <Questions key={team} team={team} answers={answers} />
      </HeadingLevel>
    </div>
  );
}

/** The cards of all teams, or of one. Those that arrive later stand below, until the user puts them in their order. */
function Questions({ team, answers }: { team: string; answers: AnswerQueue }) {
  const inbox = useInbox({ team: team || undefined, order: "expires_at" });
  const { status, requests, error, hasMore, answer, loadMore, reload } = inbox;
  const { cards, inOrder, order } = useKept(requests, "left");
  const [together, setTogether] = useState<readonly string[]>([]);
  const steady = useSteady<HTMLUListElement>("page");
  useCardKeys(steady.ref);
  const { delayed, give, undo } = answers;
  const groups = useMemo(() => {
    const found = new Map<string, ListedRequest[]>();
    for (const { request, open } of cards) {
      const group = groupOf(request);
      const { phase } = delayed.get(answerKeyOf(request)) ?? {};
      const waits = open && (phase === undefined || phase === "failed");
      if (group !== undefined && waits) found.set(group, [...(found.get(group) ?? []), request]);
    }
    return found;
  }, [cards, delayed]);
  const giveOne = (request: ListedRequest, given: Answer): void =>
    give(answerKeyOf(request), given, () => answer(request, given));
  if (status === "unavailable" && error) return <Failure error={error} onRetry={reload} />;
  const undoable = together.filter((key) => delayed.get(key)?.phase === "delayed");
  return (
    <>
      {status === "connecting" && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      <p className="reorder">
        {!inOrder && (
          <button className="button small" type="button" onClick={order}>
            Sort by expiry
          </button>
        )}
      </p>
      <ul className="requests" aria-label="Open questions" {...steady}>
        {cards.map(({ key, request, open }) => {
          const group = groupOf(request);
          const alike = group === undefined ? [] : (groups.get(group) ?? []);
          return (
            <li key={key} tabIndex={-1}>
              <RequestCard
                request={request}
                open={open}
                delayed={delayed.get(answerKeyOf(request))}
                together={
                  alike.length > 1 && (
                    <AnswerTogether
                      alike={alike}
                      onAnswer={(chosen, given) => {
                        setTogether(chosen.map((one) => answerKeyOf(one)));
                        for (const one of chosen) giveOne(one, forShown(one, given));
                      }}
                    />
                  )
                }
                onAnswer={(given) => giveOne(request, given)}
                onUndo={() => undo(answerKeyOf(request))}
              />
            </li>
          );
        })}
      </ul>
      {status === "open" && requests.length === 0 && (
        <div className="empty">
          <h2>No open questions</h2>
          <p className="muted">
            {team === ""
              ? "Questions and approvals of all teams appear here."
              : "Questions and approvals of this team appear here."}
          </p>
        </div>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
      <div className="undo-together" role="status">
        {undoable.length > 1 && (
          <>
            {counted(undoable.length, "answer")} will be sent in a moment.
            <button
              className="button small"
              type="button"
              onClick={() => undoable.forEach((key) => undo(key))}
            >
              Undo all
            </button>
          </>
        )}
      </div>
    </>
  );
}

/** The answer to the arguments that were shown. */
function forShown({ revision }: ListedRequest, answer: Answer): Answer {
  return revision === undefined || answer.approved !== true ? answer : { ...answer, revision };
}

interface TeamFilterProps {
  team: string;
  onChange: (team: string) => void;
}

/** A choice of the teams that have questions. */
function TeamFilter({ team, onChange }: TeamFilterProps) {
  const { requests } = useInbox({ order: "expires_at" });
  const labels = new Map(requests.map(({ team_id, team_label }) => [team_id, team_label]));
  if (team !== "" && !labels.has(team)) labels.set(team, null);
  if (labels.size < 2 && team === "") return null;
  return (
    <select
      aria-label="Team"
      className="team-choice"
      value={team}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">Any team</option>
      {[...labels].map(([id, label]) => (
        <option key={id} value={id}>
          {visibleName(label ?? id)}
        </option>
      ))}
    </select>
  );
}

function NotificationSwitch() {
  const { state, change } = useNotifications();
  const { attempt } = useNotices();
  if (state === "unknown") return null;
  return (
    <button
      className="button"
      type="button"
      aria-pressed={state === "on"}
      disabled={state === "blocked"}
      title={
        state === "blocked"
          ? "Your browser blocks notifications of this page. Allow them in its settings."
          : "The browser shows new questions while you use another page or program."
      }
      onClick={() => void attempt(change)}
    >
      <Icon name="bell" />
      {state === "on"
        ? "Notifications are on"
        : state === "blocked"
          ? "Notifications are blocked"
          : "Notify me"}
    </button>
  );
}
