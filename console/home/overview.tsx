import { lazy, type ReactNode, Suspense } from "react";
import type { ListedRequest, ListedRun } from "troupe/client";
import { useInbox } from "troupe/react";
import { Link } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Name } from "../parts/name.tsx";
import { costOf, durationOf, failureRate } from "../parts/numbers.ts";
import { Elapsed } from "../parts/time.tsx";
import { promptOf } from "../requests/prompt.ts";
import { keyOfGroup } from "../failures/group.ts";
import { useMay } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
import { preview } from "../text/preview.ts";
import { FailureLine } from "./failure-line.tsx";
import { type DaysBefore, MOST_SHOWN, useOverview } from "./use-overview.ts";
import { useLastLine } from "./use-last-line.ts";

const Sparkline = lazy(async () => ({ default: (await import("./sparkline.tsx")).Sparkline }));

/** The questions for the user, the active runs, the largest groups of failures since yesterday, and today beside the days before. */
export function Overview() {
  const { requests, hasMore } = useInbox({ order: "expires_at" });
  const { value, error, reload } = useOverview();
  const mayUsage = useMay("usage:read");
  if (value === undefined) {
    return error === undefined ? null : <Failure error={error} onRetry={reload} />;
  }
  const { running, failed, today, before, yesterday } = value;
  return (
    <div className="home-overview">
      <Panel
        title="Waiting for you"
        count={`${requests.length}${hasMore ? "+" : ""}`}
        href="/inbox"
      >
        {requests.slice(0, MOST_SHOWN).map((request) => (
          <li key={`${request.team_id} ${request.id}`}>
            <Link className="one-line" href={`/inbox?team=${request.team_id}`}>
              <Name name={request.team_label ?? request.team_id} />
            </Link>
            <span className="one-line muted">{askedIn(request)}</span>
          </li>
        ))}
      </Panel>
      <Panel title="Running now" count={String(running.total)} href="/runs?status=running">
        {running.runs.map((run) => (
          <RunningLine key={run.id} run={run} label={run.team_label ?? run.team_id} />
        ))}
      </Panel>
      <Panel
        title="Failed since yesterday"
        count={`${failed.total.toLocaleString()}${failed.complete ? "" : "+"}`}
        href="/runs/failures?days=2"
      >
        {failed.groups.map((group) => (
          <FailureLine key={keyOfGroup(group)} group={group} since={yesterday} />
        ))}
      </Panel>
      <section className="home-panel">
        <h2>Today (UTC)</h2>
        {mayUsage && (
          <Suspense>
            <Sparkline />
          </Suspense>
        )}
        <dl>
          <Measure
            name="Cost"
            today={today.cost === null ? "unknown" : costOf(today.cost)}
            before={before.cost === null ? undefined : `7-day average ${costOf(before.cost)}`}
          />
          <Measure
            name="Duration p95"
            today={seconds(today.p95_seconds)}
            before={
              before.p95_seconds === null ? undefined : `last 7 days ${seconds(before.p95_seconds)}`
            }
          />
          <Measure
            name="Runs"
            today={today.runs.toLocaleString()}
            before={`7-day average ${Math.round(before.runs).toLocaleString()}`}
          />
          <Measure name="Failed" today={failureRate(today) || "0%"} before={failedBefore(before)} />
        </dl>
      </section>
    </div>
  );
}

interface PanelProps {
  title: string;
  count: string;
  href: string;
  children: ReactNode[];
}

/** Items under their number; one line without items. */
function Panel({ title, count, href, children }: PanelProps) {
  const isEmpty = children.length === 0;
  return (
    <section className="home-panel" data-empty={isEmpty}>
      <h2>
        <Link href={href}>{title}</Link>
        {isEmpty ? (
          <span className="muted">None</span>
        ) : (
          <span className="panel-count">{count}</span>
        )}
      </h2>
      {!isEmpty && <ul>{children}</ul>}
    </section>
  );
}

/** A run with the last message of its team. */
function RunningLine({ run, label }: { run: ListedRun; label: string }) {
  const line = useLastLine(run.team_id);
  return (
    <li>
      <span className="line-head">
        <Link className="one-line" href={`/teams/${run.team_id}`}>
          <Name name={label} />
        </Link>
        <span className="muted">
          {run.started_at && <Elapsed from={run.started_at} to={null} />}
        </span>
      </span>
      <span className="one-line muted">
        {line ? (
          <>
            <Name name={line.source} />: {preview(line.text)}
          </>
        ) : (
          preview(run.task ?? "")
        )}
      </span>
    </li>
  );
}

interface MeasureProps {
  name: string;
  today: string;
  before: string | undefined;
}

function Measure({ name, today, before }: MeasureProps) {
  return (
    <div>
      <dt className="muted">{name}</dt>
      <dd>
        <b>{today}</b> {before !== undefined && <span className="muted">{before}</span>}
      </dd>
    </div>
  );
}

function askedIn(request: ListedRequest): string {
  const { source, kind, tool_call: call, code } = request;
  const asked = promptOf(request);
  const asks =
    kind === "approval"
      ? `asks for approval${call ? ` to call ${call.name}` : code ? " to run code" : ""}`
      : kind === "tool"
        ? `waits for the result of ${call?.name ?? "a tool"}`
        : request.login !== undefined
          ? `is waiting for a login. ${asked}`
          : asked === ""
            ? "waits for your answer"
            : `asks: ${asked}`;
  return visibleName(`${source} ${asks}`);
}

function seconds(value: number | null): string {
  return value === null ? "none" : durationOf(value * 1_000);
}

function failedBefore({ failureRate: rate }: DaysBefore): string | undefined {
  return rate === "" ? undefined : `last 7 days ${rate}`;
}
