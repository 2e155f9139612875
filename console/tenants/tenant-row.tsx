import { type ReactNode, useRef } from "react";
import type { TenantInfo, TenantList } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { bytesOf, costOf, shareOf, shortNumber } from "../parts/numbers.ts";
import { Problem } from "../parts/problem.tsx";
import { useTenant } from "./use-tenant.ts";

interface Column {
  name: string;
  show: (tenant: TenantInfo) => ReactNode;
}

/** The numbers of a tenant; those of today are of the runs that ended today, UTC. */
export const COLUMNS: readonly Column[] = [
  { name: "Runs today", show: ({ today }) => today.runs.toLocaleString() },
  { name: "Failed today", show: failuresOf },
  {
    name: "Tokens today",
    show: ({ today }) => shortNumber(today.prompt_tokens + today.completion_tokens),
  },
  { name: "Cost today", show: costOfToday },
  {
    name: "Stored",
    show: ({ stored_bytes: bytes, limits: { stored_bytes: limit } }) =>
      limit === null ? bytesOf(bytes) : `${bytesOf(bytes)} of ${bytesOf(limit)}`,
  },
  { name: "Teams", show: ({ teams, limits }) => ofLimit(teams, limits.teams) },
  {
    name: "Active runs",
    show: ({ active_runs, limits }) => ofLimit(active_runs, limits.active_runs),
  },
  { name: "Runs per minute", show: ({ limits }) => limits.runs_per_minute.toLocaleString() },
];

interface TenantRowProps {
  tenant: TenantList["tenants"][number];
  onChoose: (tenant: string) => void;
}

export function TenantRow({ tenant: { id, label }, onChoose }: TenantRowProps) {
  const row = useRef<HTMLTableRowElement>(null);
  const { value, error } = useTenant(id, row);
  return (
    <tr ref={row}>
      <th scope="row">
        <button className="button" type="button" onClick={() => onChoose(id)}>
          <Name name={label ?? id} />
        </button>
      </th>
      {error ? (
        <td colSpan={COLUMNS.length}>
          <Problem error={error} />
        </td>
      ) : (
        COLUMNS.map(({ name, show }) => (
          <td key={name} className="number">
            {value && show(value)}
          </td>
        ))
      )}
    </tr>
  );
}

function failuresOf({ today: { runs, failed } }: TenantInfo): ReactNode {
  if (failed === 0) return 0;
  return <span className="bad">{`${failed.toLocaleString()} (${shareOf(failed, runs)})`}</span>;
}

/** Nothing without runs: no price is missing then. */
function costOfToday({ today: { runs, cost } }: TenantInfo): string {
  if (cost !== null) return costOf(cost);
  return runs === 0 ? "" : "unknown";
}

function ofLimit(value: number, limit: number): string {
  return `${value.toLocaleString()} of ${limit.toLocaleString()}`;
}
