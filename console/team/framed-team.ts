import { createContext, useContext } from "react";
import type { NotedTeam, TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";

/** The team whose pages are open: its frame loads it once for all tabs. */
export interface FramedTeam {
  teamId: string;
  handle: TeamClient;
  team: TeamView;
  /** Undefined until it is loaded, or if the credential may not see it. */
  info: NotedTeam | undefined;
  /** Loads `info` again, after a change of it. */
  reloadInfo: () => void;
}

export const FramedTeamContext = createContext<FramedTeam | undefined>(undefined);

/** The team of the frame around a tab. */
export function useFramedTeam(): FramedTeam {
  const framed = useContext(FramedTeamContext);
  if (framed === undefined) throw new Error("A tab of a team needs the frame of the team.");
  return framed;
}
