import type { Memory } from "troupe/client";
import { SearchField } from "../parts/search-field.tsx";
import type { TeamLabels } from "../hooks/use-team-labels.ts";
import { visibleName } from "../text/foreign.ts";
import type { MemoryAddress } from "./memory-address.ts";

const SCOPES: Readonly<Record<Memory["scope"], string>> = {
  tenant: "Shared by all teams",
  user: "One user",
  team: "One team",
};

interface PlaceFieldsProps extends TeamLabels {
  place: MemoryAddress;
  /** The search text. */
  q: string;
  /** True if the credential stands for one user only. */
  ownUser: boolean;
  onChange: (changes: Readonly<Record<string, string>>) => void;
}

/** The fields above the memories: whose they are, and a search. */
export function PlaceFields({ place, q, ownUser, onChange, teams, labels }: PlaceFieldsProps) {
  const { scope, team, user } = place;
  const knownIds = teams.map(({ id }) => id);
  const ids = team === "" || knownIds.includes(team) ? knownIds : [team, ...knownIds];
  return (
    <div className="filters" role="group" aria-label="Filters">
      <select
        aria-label="Scope"
        value={scope}
        onChange={({ target }) => onChange({ scope: target.value, team: "", user: "" })}
      >
        {Object.entries(SCOPES).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      {scope === "team" && (
        <select
          aria-label="Team"
          className="team-choice"
          value={team}
          onChange={({ target }) => onChange({ team: target.value })}
        >
          <option value="">Choose a team</option>
          {ids.map((id) => (
            <option key={id} value={id}>
              {visibleName(labels.get(id) ?? id)}
            </option>
          ))}
        </select>
      )}
      {scope === "user" && !ownUser && (
        <SearchField
          label="User"
          placeholder="User ID"
          value={user}
          onChange={(value) => onChange({ user: value })}
        />
      )}
      <SearchField
        label="Search memories"
        placeholder="Search memories"
        maxLength={1_000}
        value={q}
        onChange={(value) => onChange({ q: value })}
      />
    </div>
  );
}
