import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { costOf } from "../parts/numbers.ts";
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

/** What each team or model used in the whole period. */
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

/** The numbers of the plot: days on which something was used, the last one first. */
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
}

/** The whole period in a few numbers. */
export function TotalTiles({ totals }: TotalsProps) {
  return (
    <dl className="tiles">
      {(Object.keys(MEASURES) as Measure[]).map((measure) => (
        <div key={measure}>
          <dt>{MEASURES[measure]}</dt>
          <dd>
            {measure === "cost" && totals.cost === null
              ? "unknown"
              : amountText(amountOf(totals, measure), measure)}
          </dd>
        </div>
      ))}
    </dl>
  );
}
