import type { ListedTeam } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { tokensOf } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { kindOf } from "./kinds.ts";

export function TeamTable({ teams }: { teams: readonly ListedTeam[] }) {
  return (
    <table className="table teams">
      <thead>
        <tr>
          <th scope="col">Team</th>
          <th scope="col">Kind</th>
          <th scope="col">Status</th>
          <th scope="col" className="number">
            Usage
          </th>
          <th scope="col" className="number">
            Last activity
          </th>
        </tr>
      </thead>
      <tbody>
        {teams.map((team) => (
          <tr key={team.id}>
            <td>
              <Link className="whole-row" href={`/teams/${team.id}`}>
                <Name name={team.label ?? team.id} />
              </Link>
              {team.label !== null && <span className="id">{team.id}</span>}
            </td>
            <td className="muted">{kindOf(team.provider)}</td>
            <td>
              <Status status={team.status} />
            </td>
            <td className="number muted">{used(team) && tokensOf(team.usage)}</td>
            <td className="number muted">
              <Ago time={team.updated_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Of runs that have ended. */
function used({ usage }: ListedTeam): boolean {
  return usage.prompt_tokens + usage.completion_tokens > 0;
}
