import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";

interface TeamHeadProps {
  teamId: string;
  /** Of the page. */
  title: string;
  children?: React.ReactNode;
}

/** The head of a page about a team, with the way back to it. */
export function TeamHead({ teamId, title, children }: TeamHeadProps) {
  const client = useTroupe();
  const load = useCallback(() => client.team(teamId).get(), [client, teamId]);
  const { value: team } = useLoaded(load);
  return (
    <header className="page-head">
      <Link className="button quiet icon-only" href={`/teams/${teamId}`} aria-label="The team">
        <Icon name="back" />
      </Link>
      <h1>
        {title}{" "}
        <span className="of-team muted">
          <Name name={team?.label ?? teamId} />
        </span>
      </h1>
      {children}
    </header>
  );
}
