import { useCallback, useEffect } from "react";
import type { RunInfo, TeamClient } from "troupe/client";
import { Link } from "wouter";
import { Fact } from "../parts/facts.tsx";
import { HeadingLevel } from "../parts/heading.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Name } from "../parts/name.tsx";
import { costOf, durationOf, shortNumber, usageText } from "../parts/numbers.ts";
import { Problem } from "../parts/problem.tsx";
import { Exact } from "../parts/time.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { promptOf } from "../requests/prompt.ts";
import { CopyButton } from "../text/copy-button.tsx";
import { visibleName } from "../text/foreign.ts";
import { placeInConversation } from "../team/place.ts";
import { ModelRequestDetails } from "./model-request.tsx";
import { recordedOf } from "./recorded.ts";
import { RecordedContents } from "./recorded-contents.tsx";
import type { TimelineStep } from "./steps.ts";
import { kindOf, nameOf } from "./words.ts";

interface StepDetailsProps {
  step: TimelineStep;
  /** The start of the run, in epoch milliseconds. */
  start: number;
  run: RunInfo;
  team: TeamClient;
  /** A number that changes when more may be recorded. */
  version: number;
  onClose: () => void;
}

const STATUSES = { running: "In progress", ok: "Done", error: "Failed", cancelled: "Cancelled" };

function isOfModel({ span, parent }: TimelineStep): boolean {
  return span.kind === "chat" || (span.kind === "attempt" && parent?.span.kind === "chat");
}

/** The attempts at a step and the waits between them, each with its duration. */
function Attempts({ steps }: { steps: readonly TimelineStep[] }) {
  const tried = steps.filter(({ span: { kind } }) => kind === "attempt" || kind === "backoff");
  return (
    <ol className="attempts" aria-label="Attempts">
      {tried.map((step) => {
        const { span, start, end } = step;
        return (
          <li key={span.span_id} data-status={span.status}>
            {nameOf(step)}
            {span.kind === "attempt" && `: ${STATUSES[span.status].toLowerCase()}`}
            {end !== null && `, ${durationOf(end - start)}`}
            {span.error_type !== null && (
              <>
                , <code>{visibleName(span.error_type)}</code>
              </>
            )}
          </li>
        );
      })}
    </ol>
  );
}

/** All details of a step, with its content. */
export function StepDetails({ step, start, run, team, version, onClose }: StepDetailsProps) {
  const { span } = step;
  const { span_id } = span;
  // A step that has not changed is another object after each loading of the trace.
  const load = useCallback(() => recordedOf(team, step), [team, span_id, span.status, version]);
  const { value: recorded, error } = useLoaded(load);
  useEffect(() => {
    const closed = (event: KeyboardEvent): void => {
      if (event.key === "Escape") onClose();
    };
    document.addEventListener("keydown", closed);
    return () => document.removeEventListener("keydown", closed);
  }, [onClose]);
  const question =
    span.kind === "wait" && span.status === "running"
      ? run.requests.find(({ source }) => source === span.agent)
      : undefined;
  return (
    <aside className="step-details" aria-label="Step details">
      <header>
        <h3>{nameOf(step)}</h3>
        <CopyButton text={location.href} name="Copy link" />
        <IconButton icon="close" name="Close details" onClick={onClose} />
      </header>
      <dl>
        <Fact name="Kind">{kindOf(step)}</Fact>
        <Fact name="Status">
          {STATUSES[span.status]}
          {span.error_type !== null && (
            <>
              : <code>{visibleName(span.error_type)}</code>
            </>
          )}
        </Fact>
        <Fact name="Started">
          <Exact time={span.started_at} />, after {durationOf(step.start - start)}
        </Fact>
        {step.end !== null && <Fact name="Duration">{durationOf(step.end - step.start)}</Fact>}
        {span.agent !== null && span.kind !== "invoke_agent" && (
          <Fact name="Agent">
            <Name name={span.agent} />
          </Fact>
        )}
        {span.provider !== null && <Fact name="Provider">{span.provider}</Fact>}
        {span.usage !== null && <Fact name="Tokens">{usageText(span.usage)}</Fact>}
        {span.usage === null && step.tokens > 0 && (
          <Fact name="Tokens">{shortNumber(step.tokens)}</Fact>
        )}
        {step.cost !== null && <Fact name="Cost">{costOf(step.cost)}</Fact>}
        {span.attempts !== null && span.attempts > 1 && (
          <Fact name="Attempts">
            {span.attempts}
            <Attempts steps={step.inner} />
          </Fact>
        )}
        {span.note !== undefined && <Fact name="Note">{visibleName(span.note)}</Fact>}
        {span.recovered && (
          <Fact name="Recovered">
            Its result was recorded before an interruption and was reused.
          </Fact>
        )}
        {span.discarded && (
          <Fact name="Discarded">
            Its result was recorded before an interruption, but the step then made another request
            and ran again.
          </Fact>
        )}
        {span.path !== null && span.path !== "" && (
          <Fact name="Path">
            <code>{visibleName(span.path)}</code>
          </Fact>
        )}
        {span.turn !== null && (
          <Fact name="Turn">
            {span.turn},{" "}
            <Link href={placeInConversation(team.id, span.turn)}>show in conversation</Link>
          </Fact>
        )}
      </dl>
      {question && (
        <p className="question">
          {visibleName(promptOf(question)) || "It is waiting for an answer."}{" "}
          <Link href={`/teams/${team.id}`}>Answer</Link>
        </p>
      )}
      {span.kind === "recovery" && (
        <p className="muted">
          The server stopped, or the run moved to another machine. The run continued from its
          recorded steps.
        </p>
      )}
      {isOfModel(step) && (
        <ModelRequestDetails step={step} run={run} team={team} version={version} />
      )}
      <Problem error={error} />
      {recorded ? (
        <HeadingLevel value={4}>
          <RecordedContents step={step} recorded={recorded} />
        </HeadingLevel>
      ) : (
        error === undefined && (
          <p className="loading" role="status">
            Loading
          </p>
        )
      )}
    </aside>
  );
}
