import { lazy, Suspense, useCallback, useMemo, useState } from "react";
import { useTroupe } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { teamNames } from "../runs/team-names.ts";
import { useMay } from "../shell/access.tsx";
import { useTitle } from "../shell/title.ts";
import { CodePlace } from "./code-place.tsx";
import { groupsOf, type Measure, MEASURES, type Series, seriesOf } from "./groups.ts";
import { dayOf, daysOf, lastDays, LENGTHS, type Period } from "./period.ts";
import { amountText, DayTable, GroupTable, TotalTiles } from "./usage-tables.tsx";

const Plot = lazy(async () => ({ default: (await import("./plot.tsx")).Plot }));

/** The usage of runs by day, team or model. The page's address contains the selection. */
export function UsagePage() {
  useTitle("Usage");
  const client = useTroupe();
  const { period, length, by, measure, change } = useChoice();
  const { from, to } = period;
  const groupedBy = by === undefined ? "day" : `day,${by}`;
  const load = useCallback(
    async () => ({ by, report: await client.usage({ from, to, by: groupedBy }) }),
    [client, from, to, by, groupedBy],
  );
  const { value, error, reload } = useLoaded(load);
  const mayRuns = useMay("runs:read");
  const { value: runTotals } = useLoaded(
    useCallback(
      async () => (mayRuns ? (await client.runs.list({ from, to, limit: 1 })).totals : undefined),
      [client, mayRuns, from, to],
    ),
  );
  // The loaded report keeps its grouping until the new one arrives.
  const report = value?.report;
  const grouped = value?.by;
  const days = useMemo(() => daysOf({ from, to }), [from, to]);
  const groups = useMemo(
    () => report && groupsOf(report, grouped, measure),
    [report, grouped, measure],
  );
  const series = useMemo(
    () => report && groups && seriesOf(report, days, groups, grouped, measure),
    [report, groups, days, grouped, measure],
  );
  const names = useMemo(
    () => (grouped === "team" && report ? teamNames(report.usage) : undefined),
    [grouped, report],
  );
  const nameOf = (name: string | undefined): string =>
    name === undefined ? MEASURES[measure] : (names?.get(name) ?? name);

  if (report === undefined && error !== undefined) {
    return <Failure error={error} onRetry={reload} />;
  }
  return (
    <div className="page wide-page usage-page">
      <header className="page-head">
        <h1>Usage</h1>
        <Segments
          name="Group by"
          options={{ all: "All", team: "Team", model: "Model" }}
          value={by ?? "all"}
          onChange={(value_) => change({ by: value_ === "all" ? undefined : value_ })}
        />
        <Segments
          name="Measure"
          options={MEASURES}
          value={measure}
          onChange={(value_) => change({ measure: value_ })}
        />
        <select
          aria-label="Period"
          value={length ?? "own"}
          onChange={(event) =>
            change(event.target.value === "own" ? { from, to } : { days: event.target.value })
          }
        >
          {LENGTHS.map((days_) => (
            <option key={days_} value={days_}>
              Last {days_} days
            </option>
          ))}
          <option value="own">Custom period</option>
        </select>
        {length === undefined && <OwnPeriod period={period} onChange={change} />}
      </header>
      <Problem error={error} />
      {report === undefined || groups === undefined || series === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : report.usage.length === 0 ? (
        <div className="empty">
          <h2>No usage in this period</h2>
          <p className="muted">Runs count on the day they end.</p>
          <Link className="button" href="/runs">
            Show the runs
          </Link>
        </div>
      ) : (
        <>
          <TotalTiles totals={report.total} runs={runTotals} />
          {measure === "cost" && report.total.cost === null ? (
            <p className="muted none">
              The cost is unknown: MODEL_PRICES has no prices for these models.
            </p>
          ) : (
            <>
              <Chart days={days} series={series} measure={measure} nameOf={nameOf} />
              <DayTable days={days} series={series} measure={measure} nameOf={nameOf} />
            </>
          )}
          {grouped !== undefined && <GroupTable groups={groups} by={grouped} nameOf={nameOf} />}
        </>
      )}
      <CodePlace />
    </div>
  );
}

interface ChartProps {
  days: readonly string[];
  series: readonly Series[];
  measure: Measure;
  nameOf: (name: string | undefined) => string;
}

/** The chart with its legend, and the numbers of the day under the pointer. */
function Chart({ days, series, measure, nameOf }: ChartProps) {
  const [day, setDay] = useState<number>();
  return (
    <figure className="chart" aria-label={`${MEASURES[measure]} by day; the table has the numbers`}>
      <Suspense fallback={<div className="plot" />}>
        <Plot days={days} series={series} onDay={setDay} />
      </Suspense>
      <figcaption>
        <span className="muted">{day === undefined ? "UTC days" : days[day]}</span>
        {series.map(({ name, amounts }, index) => (
          <span key={name ?? ""} className="legend">
            <i data-colour={index} />
            <Name name={nameOf(name)} />
            {day !== undefined && <b>{amountText(amounts[day] ?? 0, measure)}</b>}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

interface SegmentsProps<Value extends string> {
  name: string;
  options: Readonly<Record<Value, string>>;
  value: Value;
  onChange: (value: Value) => void;
}

function Segments<Value extends string>({ name, options, value, onChange }: SegmentsProps<Value>) {
  return (
    <div className="segments" role="group" aria-label={name}>
      {(Object.keys(options) as Value[]).map((option) => (
        <button
          key={option}
          type="button"
          aria-pressed={option === value}
          onClick={() => onChange(option)}
        >
          {options[option]}
        </button>
      ))}
    </div>
  );
}

interface OwnPeriodProps {
  period: Period;
  onChange: (period: { from: string; to: string }) => void;
}

function OwnPeriod({ period: { from, to }, onChange }: OwnPeriodProps) {
  return (
    <span className="own-period">
      <input
        type="date"
        aria-label="First day"
        value={from}
        max={to}
        required
        onChange={({ target }) => target.value !== "" && onChange({ from: target.value, to })}
      />
      <input
        type="date"
        aria-label="Last day"
        value={to}
        min={from}
        required
        onChange={({ target }) => target.value !== "" && onChange({ from, to: target.value })}
      />
    </span>
  );
}

type Changes = Partial<Record<"from" | "to" | "days" | "by" | "measure", string | undefined>>;

interface Choice {
  period: Period;
  /** The number of days up to today; undefined for a custom period. */
  length: number | undefined;
  by: "team" | "model" | undefined;
  measure: Measure;
  change: (changes: Changes) => void;
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function useChoice(): Choice {
  const [parameters, setParameters] = useSearchParams();
  const from = parameters.get("from") ?? "";
  const to = parameters.get("to") ?? "";
  const isOwn = DAY.test(from) && DAY.test(to);
  const asked = Number(parameters.get("days") ?? 30);
  const length = isOwn ? undefined : (LENGTHS.find((days) => days === asked) ?? 30);
  const today = dayOf(Date.now());
  const period = useMemo(
    () => (length === undefined ? { from, to } : lastDays(length, Date.parse(today))),
    [length, from, to, today],
  );
  const given = parameters.get("by");
  const measure = parameters.get("show") ?? "tokens";
  const change = (changes: Changes): void => {
    const { measure: show, ...others } = changes;
    setParameters(
      (last) => {
        const next = new URLSearchParams(last);
        const all = {
          ...others,
          ...("days" in changes && { from: undefined, to: undefined }),
          ...("measure" in changes && { show }),
        };
        for (const [name, value] of Object.entries(all)) {
          if (value === undefined) next.delete(name);
          else next.set(name, value);
        }
        return next;
      },
      { replace: true },
    );
  };
  return {
    period,
    length,
    by: given === "team" || given === "model" ? given : undefined,
    measure: measure in MEASURES ? (measure as Measure) : "tokens",
    change,
  };
}
