import { useCallback, useState } from "react";
import type { TeamClient, TeamVersion } from "troupe/client";
import { Changes } from "../forms/changes.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Problem } from "../parts/problem.tsx";
import { leavesOf } from "./leaves.ts";

interface DifferenceProps {
  team: TeamClient;
  version: number;
  /** The versions to compare it with, newest first. */
  others: readonly TeamVersion[];
}

/** The changes of a version, compared with the one before it or another one. */
export default function Difference({ team, version, others }: DifferenceProps) {
  const before = others.find(({ component_version: n }) => n < version) ?? others.at(-1);
  const [other, setOther] = useState(before?.component_version ?? version);
  const load = useCallback(
    () =>
      Promise.all(
        [other, version].map(async (n) => leavesOf((await team.versions.get(n)).component)),
      ),
    [team, other, version],
  );
  const { value, error } = useLoaded(load);
  const [from, to] = value ?? [];
  return (
    <div className="stack">
      <label className="field-in-line">
        Compared with{" "}
        <select value={other} onChange={(event) => setOther(Number(event.target.value))}>
          {others.map(({ component_version: n, label }) => (
            <option key={n} value={n}>
              version {n}
              {label === null ? "" : ` (${label})`}
            </option>
          ))}
        </select>
      </label>
      <Problem error={error} />
      {from && to && <Changes before={from} after={to} />}
    </div>
  );
}
