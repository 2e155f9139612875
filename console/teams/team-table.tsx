import { reasonOf } from "../runs/failure-words.ts";
import { Fragment } from "react";
import type { ListedTeam } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { tokensOf } from "../parts/numbers.ts";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { ForkSign } from "../parts/fork-sign.tsx";
import { preview } from "../text/preview.ts";
import { kindOf } from "./kinds.ts";

export function TeamTable({ teams }: { teams: readonly ListedTeam[] }) {
  return (
    <table className="table teams team-list">
      <thead>
        <tr>
          <th scope="col">Team</th>
          <th scope="col">Last message</th>
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
            <td className="of-list">
              <Link className="whole-row" href={`/teams/${team.id}`}>
                <Name name={team.label ?? team.id} />
              </Link>
              {team.label !== null && <span className="id">{team.id}</span>}
              {team.forked_from && (
                <ForkSign
                  from={team.forked_from}
                  name={teams.find(({ id }) => id === team.forked_from?.team_id)?.label}
                />
              )}
              <Participants team={team} />
            </td>
            <td className="last-words muted">
              <LastWords team={team} />
            </td>
            <td className="of-status">
              <TeamStatus team={team} />
            </td>
            <td className="number muted of-usage">{used(team) && tokensOf(team.usage)}</td>
            <td className="number muted of-time">
              <Ago time={team.updated_at} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Participants({ team: { provider, participants } }: { team: ListedTeam }) {
  return (
    <span className="one-line muted participants">
      {kindOf(provider)}
      {participants.map((name) => (
        <Fragment key={name}>
          {" · "}
          <Name name={name} />
        </Fragment>
      ))}
    </span>
  );
}

/** The answer or the error of the last run. */
function LastWords({ team: { last_run } }: { team: ListedTeam }) {
  const { answer, error } = last_run ?? {};
  if (error) return <span className="two-lines bad">{reasonOf(error)}</span>;
  if (!answer) return null;
  return (
    <span className="two-lines">
      <Name name={answer.source} />: {preview(answer.text)}
    </span>
  );
}

/** The status; where nothing runs after a failure, the failure. */
function TeamStatus({ team: { status, last_run } }: { team: ListedTeam }) {
  if (status !== "idle" || last_run?.status !== "failed") return <Status status={status} />;
  const { error } = last_run;
  return (
    <span className="status" data-status="failed" title={error ? reasonOf(error) : undefined}>
      Last run failed
    </span>
  );
}

/** The usage of ended runs. */
function used({ usage }: ListedTeam): boolean {
  return usage.prompt_tokens + usage.completion_tokens > 0;
}
