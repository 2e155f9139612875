interface OfTeam {
  team?: string | undefined;
  team_label?: string | null | undefined;
}

/**
 * The names of the teams of runs, or of the rows of a report, by id: their labels, or their ids. Teams with the same label, a
 * team and its fork for example, have the beginning of the id, too.
 */
export function teamNames(rows: readonly OfTeam[]): ReadonlyMap<string, string> {
  const labels = new Map(rows.map(({ team = "", team_label }) => [team, team_label ?? team]));
  const once = new Set<string>();
  const twice = new Set<string>();
  for (const label of labels.values()) (once.has(label) ? twice : once).add(label);
  const named = [...labels].map(
    ([team, label]) => [team, twice.has(label) ? `${label} (${team.slice(0, 6)})` : label] as const,
  );
  return new Map(named);
}
