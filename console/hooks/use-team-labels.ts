import { useCallback, useEffect, useMemo, useRef } from "react";
import type { ListedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded } from "./use-loaded.ts";

/** The number of teams, by latest activity, that are loaded: their runs are listed first. */
const MOST = 200;

export interface TeamLabels {
  teams: readonly ListedTeam[];
  /** Labels by team id. */
  labels: ReadonlyMap<string, string>;
}

/** The labels of the most recently active teams. @param shown ids of shown teams; unknown ones are looked up */
export function useTeamLabels(shown: readonly string[]): TeamLabels {
  const client = useTroupe();
  const { value, reload } = useLoaded(
    useCallback(() => client.teams.list({ limit: MOST }), [client]),
  );
  const asked = useRef(new Set<string>());
  useEffect(() => {
    if (value === undefined) return;
    for (const { id } of value.teams) asked.current.add(id);
    const unknown = shown.filter((id) => !asked.current.has(id));
    for (const id of unknown) asked.current.add(id);
    if (unknown.length > 0) reload();
  }, [shown, value, reload]);
  return useMemo(() => {
    const teams = value?.teams ?? [];
    const known = new Set<string>();
    const twice = new Set<string>();
    for (const { label } of teams)
      if (label !== null) (known.has(label) ? twice : known).add(label);
    const labels = new Map<string, string>();
    for (const { id, label } of teams) {
      // A fork has the label of its original.
      if (label !== null) labels.set(id, twice.has(label) ? `${label} (${id.slice(0, 6)})` : label);
    }
    return { teams, labels };
  }, [value]);
}
