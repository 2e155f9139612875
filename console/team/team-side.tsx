import { type ReactNode, useMemo } from "react";
import type { NotedTeam } from "troupe/client";
import type { TeamView } from "troupe/react";
import { Link } from "wouter";
import { Fact } from "../parts/facts.tsx";
import { Avatar, Name } from "../parts/name.tsx";
import { costOf, tokensOf } from "../parts/numbers.ts";
import { Ago } from "../parts/time.tsx";
import { comparison } from "../compare/address.ts";
import { kindOf } from "../teams/kinds.ts";
import { type Participant, participantsOf } from "../conversation/participants.ts";
import { totalOf } from "./total.ts";

interface TeamSideProps {
  info: NotedTeam;
  team: TeamView;
  /** Shown first. */
  children?: ReactNode;
}

/** The participants, the agents at work, and what the team and its run have used so far. */
export function TeamSide({ info, team, children }: TeamSideProps) {
  const working = new Set([
    ...team.texts.map(({ source }) => source),
    ...(team.activity?.steps ?? []).flatMap(({ agent }) => agent ?? []),
  ]);
  const waiting = new Set(team.requests.map(({ source }) => source));
  const { run } = team;
  // The usage of the run until then is part of the team's numbers.
  const since = useMemo(() => run, [info]);
  const total = totalOf(info, run, since);
  return (
    <aside className="side" aria-label="About this team">
      {children}
      <h2>Participants</h2>
      <People people={participantsOf(info.component)} working={working} waiting={waiting} />
      <h2>Team</h2>
      <dl>
        <Fact name="Kind">{kindOf(info.component.provider)}</Fact>
        <Fact name="ID">
          <code>{info.id}</code>
        </Fact>
        <Fact name="Turn">{Math.max(info.turn, run?.turn ?? 0)}</Fact>
        <Fact name="Usage">{tokensOf(total.usage)}</Fact>
        {total.cost !== null && <Fact name="Cost">{costOf(total.cost)}</Fact>}
        <Fact name="Created">
          <Ago time={info.created_at} />
        </Fact>
        {info.forked_from && (
          <Fact name="Forked from">
            <Link href={`/teams/${info.forked_from.team_id}`}>{info.forked_from.team_id}</Link>,
            turn {info.forked_from.turn}
            <br />
            <Link href={comparison(info.forked_from.team_id, info.id)}>
              Compare with the original
            </Link>
          </Fact>
        )}
      </dl>
      {run && (
        <>
          <h2>Last run</h2>
          <dl>
            <Fact name="Started">{run.started_at ? <Ago time={run.started_at} /> : "Not yet"}</Fact>
            <Fact name="More">
              <Link href={`/teams/${info.id}/runs/${run.id}`}>Timeline</Link>,{" "}
              <Link href={`/runs?team=${info.id}`}>all runs</Link>
            </Fact>
          </dl>
        </>
      )}
      {info.notes.length > 0 && (
        <>
          <h2>Notes</h2>
          <ul className="notes">
            {info.notes.map(({ path, message }) => (
              <li key={`${path} ${message}`}>
                <code>{path}</code> {message}
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}

interface PeopleProps {
  people: readonly Participant[];
  working: ReadonlySet<string>;
  waiting: ReadonlySet<string>;
}

function People({ people, working, waiting }: PeopleProps) {
  return (
    <ul className="participants">
      {people.map(({ name, description, provider, participants }) => (
        <li key={name} data-speaking={working.has(name)}>
          <Avatar source={name} />
          <div>
            <strong>
              <Name name={name} />
            </strong>
            {working.has(name) && <span className="writing">working</span>}
            {waiting.has(name) && <span className="asks">asks you</span>}
            <p className="muted">{description || kindOf(provider)}</p>
            {participants.length > 0 && (
              <People people={participants} working={working} waiting={waiting} />
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
