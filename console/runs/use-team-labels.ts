import { useCallback, useMemo } from "react";
import type { ListedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLoaded } from "../parts/use-loaded.ts";

/** Those with the latest activity, whose runs are listed first. */
const MOST = 200;

export interface TeamLabels {
  teams: readonly ListedTeam[];
  /** Labels by id, of those that have one. */
  labels: ReadonlyMap<string, string>;
}

/** What the teams with the latest activity are called. */
export function useTeamLabels(): TeamLabels {
  const client = useTroupe();
  const { value } = useLoaded(useCallback(() => client.teams.list({ limit: MOST }), [client]));
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
