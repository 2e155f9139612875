import { sentenceOf } from "../parts/error-words.ts";
import { reasonOf } from "../runs/failure-words.ts";
import { lazy, Suspense, useEffect, useMemo } from "react";
import { useTeam } from "troupe/react";
import { Link } from "wouter";
import { MessageBody } from "../conversation/message-body.tsx";
import { useNow } from "../hooks/use-now.ts";
import { Icon } from "../parts/icon.tsx";
import { Avatar, Name } from "../parts/name.tsx";
import { costOf, durationOf, usageText } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { useRunMessages } from "../picture/use-run-messages.ts";
import { Markdown } from "../text/markdown.tsx";
import { answerIn, durationIn } from "./variants.ts";

const TextDiff = lazy(async () => ({
  default: (await import("../compare/text-diff.tsx")).TextDiff,
}));

interface VariantRunProps {
  fork: string;
  letter: string;
  /** The answer from which differences are marked. */
  compared: string | undefined;
  onAnswer: (fork: string, answer: string | undefined) => void;
  onKeep: () => void;
}

/** A variant at work: its numbers, its messages as they are written, and why it failed. */
export function VariantRun({ fork, letter, compared, onAnswer, onKeep }: VariantRunProps) {
  const team = useTeam(fork, { pageSize: 100 });
  const { messages } = useRunMessages(team);
  const { run, status, texts, requests, error } = team;
  const live = status === "running" || status === "connecting";
  const now = useNow(live ? 100 : null);
  // A message before a failure is not an answer.
  const isAnswered = !live && status !== "failed";
  const answer = useMemo(
    () => (isAnswered ? answerIn(messages) : undefined),
    [isAnswered, messages],
  );
  useEffect(() => onAnswer(fork, answer), [onAnswer, fork, answer]);
  const last = messages.findLast(({ type }) => !type.endsWith("Event"));
  const duration = run ? durationIn(run, now) : undefined;
  const failure =
    (run?.error && reasonOf(run.error)) ??
    (status === "unavailable" && error ? sentenceOf(error) : undefined);
  return (
    <div className="variant-run" aria-busy={live}>
      <dl className="variant-numbers">
        <div>
          <dt>Status</dt>
          <dd>
            <Status status={status} />
          </dd>
        </div>
        <Fact name="Cost" value={run?.cost == null ? "unknown" : costOf(run.cost)} />
        <Fact name="Time" value={duration === undefined ? "" : durationOf(duration)} />
        <Fact name="Tokens" value={run ? usageText(run.usage) : ""} />
      </dl>
      {failure !== undefined && (
        <p className="problem" role="alert">
          {failure}
        </p>
      )}
      {requests.length > 0 && (
        <p className="muted">
          This variant is waiting for an answer.{" "}
          <Link href={`/teams/${fork}`}>Answer in the fork</Link>
        </p>
      )}
      <ol className="variant-messages" aria-label={`Messages of variant ${letter}`}>
        {messages
          .filter(({ type }) => !type.endsWith("Event"))
          .map((message) => (
            <li key={message.id} className="compared-message">
              <Speaker source={message.source} />
              {message === last && answer !== undefined && compared !== undefined ? (
                <Differences answer={answer} compared={compared} />
              ) : (
                <MessageBody message={message} />
              )}
            </li>
          ))}
        {texts.map(({ id, source, content }) => (
          <li key={id} className="compared-message">
            <Speaker source={source} />
            <Markdown text={content} />
          </li>
        ))}
      </ol>
      {!live && (
        <div className="buttons">
          <Link className="button" href={`/teams/${fork}`}>
            <Icon name="fork" />
            Open fork
          </Link>
          <button className="button" type="button" onClick={onKeep}>
            Keep this variant
          </button>
        </div>
      )}
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Speaker({ source }: { source: string }) {
  return (
    <header>
      <Avatar source={source} />
      <strong>
        <Name name={source} />
      </strong>
    </header>
  );
}

function Differences({ answer, compared }: { answer: string; compared: string }) {
  if (answer === compared) {
    return (
      <>
        <span className="mark">the same</span>
        <p className="compared">{answer}</p>
      </>
    );
  }
  return (
    <Suspense>
      <TextDiff text={answer} other={compared} side="b" />
    </Suspense>
  );
}
