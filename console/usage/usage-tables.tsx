import type { RunTotals } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { costOf, durationOf, failureRate } from "../parts/numbers.ts";
import {
  amountOf,
  type Group,
  type Measure,
  MEASURES,
  type Series,
  type Totals,
} from "./groups.ts";

const whole = new Intl.NumberFormat();

/** An amount in full. */
export function amountText(amount: number, measure: Measure): string {
  return measure === "cost" ? costOf(amount) : whole.format(amount);
}

interface GroupTableProps {
  groups: readonly Group[];
  by: "team" | "model";
  nameOf: (name: string | undefined) => string;
}

/** The usage of each team or model in the period. */
export function GroupTable({ groups, by, nameOf }: GroupTableProps) {
  return (
    <Scroll name={by === "team" ? "Usage by team" : "Usage by model"}>
      <table className="table teams numbers">
        <thead>
          <tr>
            <th scope="col">{by === "team" ? "Team" : "Model"}</th>
            {["Runs", "Turns", "Tokens in", "Cached", "Tokens out", "Reasoning", "Cost"].map(
              (name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.name}>
              <th scope="row">
                {by === "team" ? (
                  <Link href={`/runs?team=${group.name}`}>
                    <Name name={nameOf(group.name)} />
                  </Link>
                ) : (
                  <Name name={nameOf(group.name)} />
                )}
              </th>
              <Amounts totals={group} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Amounts({ totals }: { totals: Totals }) {
  return (
    <>
      <td className="number">{whole.format(totals.runs)}</td>
      <td className="number">{whole.format(totals.turns)}</td>
      <td className="number">{whole.format(totals.prompt_tokens)}</td>
      <td className="number">{whole.format(totals.cached_tokens ?? 0)}</td>
      <td className="number">{whole.format(totals.completion_tokens)}</td>
      <td className="number">{whole.format(totals.reasoning_tokens ?? 0)}</td>
      <td className="number">{totals.cost === null ? "unknown" : costOf(totals.cost)}</td>
    </>
  );
}

interface DayTableProps {
  days: readonly string[];
  series: readonly Series[];
  measure: Measure;
  nameOf: (name: string | undefined) => string;
}

/** The numbers of the chart: days with usage, latest first. */
export function DayTable({ days, series, measure, nameOf }: DayTableProps) {
  const rows = days
    .map((day, index) => ({ day, amounts: series.map(({ amounts }) => amounts[index] ?? 0) }))
    .filter(({ amounts }) => amounts.some((amount) => amount > 0))
    .toReversed();
  return (
    <Scroll name={`${MEASURES[measure]} by day`}>
      <table className="table teams numbers">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {series.map(({ name }) => (
              <th key={name ?? ""} scope="col" className="number">
                {name === undefined ? MEASURES[measure] : <Name name={nameOf(name)} />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ day, amounts }) => (
            <tr key={day}>
              <th scope="row">{day}</th>
              {amounts.map((amount, index) => (
                <td key={series[index]?.name ?? ""} className="number">
                  {amountText(amount, measure)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Scroll({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={name}>
      {children}
    </div>
  );
}

interface TotalsProps {
  totals: Totals;
  /** The outcomes and durations of the runs that ended in the period, if the user may read them. */
  runs: RunTotals | undefined;
}

/** The whole period in a few numbers. */
export function TotalTiles({ totals, runs }: TotalsProps) {
  return (
    <dl className="tiles">
      {(Object.keys(MEASURES) as Measure[]).map((measure) => (
        <Tile key={measure} name={MEASURES[measure]}>
          {measure === "cost" && totals.cost === null
            ? "unknown"
            : amountText(amountOf(totals, measure), measure)}
        </Tile>
      ))}
      {runs && (
        <>
          <Tile name="Duration p50">{secondsText(runs.p50_seconds)}</Tile>
          <Tile name="Duration p95">{secondsText(runs.p95_seconds)}</Tile>
          <Tile name="Failed">{failureRate(runs) || "none"}</Tile>
        </>
      )}
    </dl>
  );
}

function Tile({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function secondsText(seconds: number | null): string {
  return seconds === null ? "none" : durationOf(seconds * 1_000);
}
