import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { useMay } from "../shell/access.tsx";

const NAMES = {
  conversation: "Conversation",
  picture: "Picture",
  files: "Files",
  schedules: "Schedules",
  triggers: "Triggers",
  runs: "Runs",
  versions: "Versions",
  api: "API",
} as const;
type TeamTab = keyof typeof NAMES;

/** The tab of an address. */
export function tabOf(path: string, search: URLSearchParams): TeamTab {
  const [, , , part = ""] = path.split("/");
  if (part in NAMES) return part as TeamTab;
  return search.get("view") === "picture" ? "picture" : "conversation";
}

/** The title of the browser's tab. @param team the name of the team */
export function titleOf(tab: TeamTab, team: string): string {
  return tab === "conversation" ? team : `${NAMES[tab]} of ${team}`;
}

/** The pages of a team. Where they do not fit, the row is scrolled to the current one. */
export function TeamTabs({ teamId, current }: { teamId: string; current: TeamTab }) {
  const mayTeams = useMay("teams:read");
  const mayRuns = useMay("runs:read");
  const may: Readonly<Record<TeamTab, boolean>> = {
    conversation: mayTeams,
    picture: mayTeams,
    files: mayTeams,
    schedules: mayRuns,
    triggers: mayTeams,
    runs: mayRuns,
    versions: mayTeams,
    api: true,
  };
  const tabs = (Object.keys(NAMES) as TeamTab[]).filter((tab) => may[tab]);
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    <nav ref={nav} className="team-tabs" aria-label="Team">
      {tabs.map((tab) => (
        <Link
          key={tab}
          href={addressOf(teamId, tab)}
          aria-current={tab === current ? "page" : undefined}
        >
          {NAMES[tab]}
        </Link>
      ))}
    </nav>
  );
}

function addressOf(teamId: string, tab: TeamTab): string {
  const team = `/teams/${teamId}`;
  if (tab === "conversation") return team;
  return tab === "picture" ? `${team}?view=picture` : `${team}/${tab}`;
}
