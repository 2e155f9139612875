import { type ReactNode, useCallback, useEffect, useMemo } from "react";
import { ApiError } from "troupe/client";
import { useTeam, useTroupe } from "troupe/react";
import { Link, useLocation, useSearchParams } from "wouter";
import { PAGE_SIZE } from "../conversation/page-size.ts";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Failure } from "../parts/failure.tsx";
import { ForkSign } from "../parts/fork-sign.tsx";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { useTitle } from "../shell/title.ts";
import { visibleName } from "../text/foreign.ts";
import { FramedTeamContext } from "./framed-team.ts";
import { RunBar } from "./run-bar.tsx";
import { TeamMenu } from "./team-menu.tsx";
import { tabOf, TeamTabs, titleOf } from "./team-tabs.tsx";

interface TeamFrameProps {
  teamId: string;
  /** The tab that is open. */
  children: ReactNode;
}

/** The header of a team, which is the same on all of its tabs, over the open one. */
export function TeamFrame({ teamId, children }: TeamFrameProps) {
  const client = useTroupe();
  const team = useTeam(teamId, { pageSize: PAGE_SIZE });
  const handle = useMemo(() => client.team(teamId), [client, teamId]);
  const load = useCallback(() => handle.get(), [handle]);
  const { value: info, error, reload: reloadInfo } = useLoaded(load);
  const { status, reload } = team;
  useEffect(() => {
    if (status !== "connecting") reloadInfo();
  }, [status, reloadInfo]);
  const origin = useLabelOf(info?.forked_from?.team_id);
  const [path] = useLocation();
  const [search] = useSearchParams();
  const tab = tabOf(path, search);
  const name = info?.label ?? teamId;
  useTitle(titleOf(tab, visibleName(name)));
  const framed = useMemo(
    () => ({ teamId, handle, team, info, reloadInfo }),
    [teamId, handle, team, info, reloadInfo],
  );
  if (error instanceof ApiError && error.status === 404) {
    return <Failure error={error} onRetry={reloadInfo} />;
  }
  return (
    <div className="team-frame">
      <header className="team-head">
        <Link className="button quiet icon-only" href="/teams" aria-label="All teams">
          <Icon name="back" />
        </Link>
        <div className="team-name">
          <h1>
            <Name name={name} />
          </h1>
          {info?.forked_from && <ForkSign from={info.forked_from} name={origin} />}
        </div>
        <RunBar team={team} teamId={teamId} />
        <TeamMenu team={handle} origin={info?.forked_from?.team_id} onReset={reload} />
        <TeamTabs teamId={teamId} current={tab} />
      </header>
      <FramedTeamContext value={framed}>
        <div className="team-content">{children}</div>
      </FramedTeamContext>
    </div>
  );
}

/** The label of a team, which lists have without its component. */
function useLabelOf(team: string | undefined): string | null | undefined {
  const client = useTroupe();
  const load = useCallback(async () => {
    if (team === undefined) return undefined;
    const { teams } = await client.teams.list({ q: team, limit: 10 });
    return teams.find(({ id }) => id === team)?.label;
  }, [client, team]);
  return useLoaded(load).value;
}
