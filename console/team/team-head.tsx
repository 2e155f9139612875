import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useTitle } from "../shell/title.ts";
import { visibleName } from "../text/foreign.ts";
import { type TeamTab, TeamTabs } from "./team-tabs.tsx";

interface TeamHeadProps {
  teamId: string;
  /** The page's title. */
  title: string;
  tab: TeamTab;
  children?: React.ReactNode;
}

/** The header of a team's subpage, with the team's other pages. */
export function TeamHead({ teamId, title, tab, children }: TeamHeadProps) {
  const client = useTroupe();
  const load = useCallback(() => client.team(teamId).get(), [client, teamId]);
  const { value: team } = useLoaded(load);
  const label = team?.label ?? teamId;
  useTitle(`${title} of ${visibleName(label)}`);
  return (
    <header className="page-head">
      <Link className="button quiet icon-only" href={`/teams/${teamId}`} aria-label="The team">
        <Icon name="back" />
      </Link>
      <h1>
        {title}{" "}
        <span className="of-team muted">
          <Name name={label} />
        </span>
      </h1>
      {children}
      <TeamTabs teamId={teamId} current={tab} />
    </header>
  );
}
